-- The token's own rate limit, if any: requests per second, and burst.
ALTER TABLE api_token ADD COLUMN calls_per_second bigint;
ALTER TABLE api_token ADD COLUMN calls_at_once bigint;

-- The time until which past requests occupy the rate, in microseconds of a clock that all processes share.
ALTER TABLE api_token ADD COLUMN booked_until bigint;
