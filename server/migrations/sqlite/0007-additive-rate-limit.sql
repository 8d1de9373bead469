-- The token's own rate limit, if any: requests per second, and burst.
ALTER TABLE api_token ADD COLUMN calls_per_second INTEGER;
ALTER TABLE api_token ADD COLUMN calls_at_once INTEGER;

-- The time until which past requests occupy the rate, in microseconds of a clock that all processes share.
ALTER TABLE api_token ADD COLUMN booked_until INTEGER;
