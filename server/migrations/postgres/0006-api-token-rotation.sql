-- When an API token was last used, to the minute.
ALTER TABLE api_token ADD COLUMN last_used_at bigint;

-- The one that took its place. There is no foreign key: a copy of the store writes the older one first.
ALTER TABLE api_token ADD COLUMN replaced_by bigint;
