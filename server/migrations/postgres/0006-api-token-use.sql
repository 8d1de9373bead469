-- When an API token was last used, to the minute.
ALTER TABLE api_token ADD COLUMN last_used_at bigint;
