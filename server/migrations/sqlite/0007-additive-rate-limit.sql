-- How many calls an API token may make, where it has a limit of its own: calls a second, and at once.
ALTER TABLE api_token ADD COLUMN calls_per_second INTEGER;
ALTER TABLE api_token ADD COLUMN calls_at_once INTEGER;

-- Until when the calls that were made take up its rate, in microseconds of a clock that its processes share.
ALTER TABLE api_token ADD COLUMN booked_until INTEGER;
