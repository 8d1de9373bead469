-- All rows have a bucket now. The new keys exist already in a store that had rows.
CREATE UNIQUE INDEX IF NOT EXISTS user_group_location ON user_group (workspace_id, team_id, bucket);
CREATE UNIQUE INDEX IF NOT EXISTS user_group_provided_id ON user_group (workspace_id, environment, provided_id, bucket);
CREATE UNIQUE INDEX IF NOT EXISTS superseded_token_location ON superseded_token (workspace_id, team_id, token_hash, bucket);
CREATE UNIQUE INDEX IF NOT EXISTS mapping_entry_location
ON mapping_entry (workspace_id, environment, schema_key, data_source_key, team_id, bucket);
CREATE UNIQUE INDEX IF NOT EXISTS user_group_version_location ON user_group_version (workspace_id, team_id, revision, bucket);
CREATE UNIQUE INDEX IF NOT EXISTS deleted_user_group_location ON deleted_user_group (workspace_id, team_id, bucket);
CREATE UNIQUE INDEX IF NOT EXISTS last_introspection_location ON last_introspection (workspace_id, team_id, bucket);
CREATE UNIQUE INDEX IF NOT EXISTS idempotency_key_location ON idempotency_key (workspace_id, team_id, key_hash, bucket);
CREATE UNIQUE INDEX IF NOT EXISTS audit_event_location ON audit_event (workspace_id, environment, event_id, bucket);
