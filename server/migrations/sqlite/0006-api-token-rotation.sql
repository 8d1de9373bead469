-- The last use of the API token, rounded down to the minute.
ALTER TABLE api_token ADD COLUMN last_used_at INTEGER;

-- The API token that replaced this one. No foreign key: a copy of the store inserts the older token first.
ALTER TABLE api_token ADD COLUMN replaced_by INTEGER;
