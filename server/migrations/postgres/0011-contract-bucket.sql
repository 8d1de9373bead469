-- Removes what only releases before 0010 need. `ugs migrate --contract` applies this file; a new store has it from the start.
-- Every key ends with the bucket. A key without it could not be unique in a partitioned or distributed table.
SET LOCAL statement_timeout = '500ms';
LOCK TABLE user_group, superseded_token, mapping_entry, user_group_version, deleted_user_group, last_introspection,
  idempotency_key, audit_event IN ACCESS EXCLUSIVE MODE;
SET LOCAL statement_timeout = 0;

DROP FUNCTION fill_bucket(), look_up_bucket(), share_idempotency_key() CASCADE;

-- note_legacy_token stays: processes issue tokens without a locator until they notice this file.

-- No foreign keys to user_group: each rotation would pay for them. `delete_user_group` deletes the rows.
ALTER TABLE superseded_token DROP CONSTRAINT superseded_token_workspace_id_team_id_fkey;
ALTER TABLE idempotency_key DROP CONSTRAINT idempotency_key_workspace_id_team_id_fkey;

ALTER TABLE user_group ALTER COLUMN bucket SET NOT NULL;
ALTER TABLE user_group
  DROP CONSTRAINT IF EXISTS user_group_has_bucket,
  ALTER COLUMN team_id DROP DEFAULT,
  DROP CONSTRAINT user_group_pkey,
  DROP CONSTRAINT user_group_workspace_id_environment_provided_id_key,
  DROP CONSTRAINT user_group_workspace_id_token_hash_key,
  ADD CONSTRAINT user_group_pkey PRIMARY KEY USING INDEX user_group_location;
ALTER TABLE superseded_token ALTER COLUMN bucket SET NOT NULL;
ALTER TABLE superseded_token
  DROP CONSTRAINT IF EXISTS superseded_token_has_bucket,
  DROP CONSTRAINT superseded_token_pkey,
  ADD CONSTRAINT superseded_token_pkey PRIMARY KEY USING INDEX superseded_token_location;
ALTER TABLE mapping_entry ALTER COLUMN bucket SET NOT NULL;
ALTER TABLE mapping_entry
  DROP CONSTRAINT IF EXISTS mapping_entry_has_bucket,
  DROP CONSTRAINT mapping_entry_pkey,
  ADD CONSTRAINT mapping_entry_pkey PRIMARY KEY USING INDEX mapping_entry_location;
ALTER TABLE user_group_version ALTER COLUMN bucket SET NOT NULL;
ALTER TABLE user_group_version
  DROP CONSTRAINT IF EXISTS user_group_version_has_bucket,
  DROP CONSTRAINT user_group_version_pkey,
  ADD CONSTRAINT user_group_version_pkey PRIMARY KEY USING INDEX user_group_version_location;
ALTER TABLE deleted_user_group ALTER COLUMN bucket SET NOT NULL;
ALTER TABLE deleted_user_group
  DROP CONSTRAINT IF EXISTS deleted_user_group_has_bucket,
  DROP CONSTRAINT deleted_user_group_pkey,
  ADD CONSTRAINT deleted_user_group_pkey PRIMARY KEY USING INDEX deleted_user_group_location;
ALTER TABLE last_introspection ALTER COLUMN bucket SET NOT NULL;
ALTER TABLE last_introspection
  DROP CONSTRAINT IF EXISTS last_introspection_has_bucket,
  DROP CONSTRAINT last_introspection_pkey,
  ADD CONSTRAINT last_introspection_pkey PRIMARY KEY USING INDEX last_introspection_location;
ALTER TABLE idempotency_key ALTER COLUMN bucket SET NOT NULL;
ALTER TABLE idempotency_key
  DROP CONSTRAINT IF EXISTS idempotency_key_has_bucket,
  DROP CONSTRAINT idempotency_key_pkey,
  ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY USING INDEX idempotency_key_location;
ALTER TABLE audit_event ALTER COLUMN bucket SET NOT NULL;
ALTER TABLE audit_event
  DROP CONSTRAINT IF EXISTS audit_event_has_bucket,
  DROP CONSTRAINT audit_event_pkey,
  ADD CONSTRAINT audit_event_pkey PRIMARY KEY USING INDEX audit_event_location;
DROP INDEX superseded_token_by_user_group;
DROP INDEX idempotency_key_by_user_group;
