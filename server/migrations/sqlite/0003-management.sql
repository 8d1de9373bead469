-- `revision` increases with each change of the row. `updated_by` is the author of the last change of name, mapping and properties;
-- null if that was before this migration.
ALTER TABLE user_group ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE user_group ADD COLUMN updated_by TEXT;
ALTER TABLE user_group ADD COLUMN suspended_at INTEGER;

CREATE INDEX user_group_suspended ON user_group (workspace_id, environment, team_id) WHERE suspended_at IS NOT NULL;

-- Earlier states of user groups. `revision` is the last one with that state. No foreign key: a deleted user group keeps its
-- versions as long as it can be restored.
CREATE TABLE user_group_version (
  workspace_id INTEGER NOT NULL,
  team_id      INTEGER NOT NULL,
  revision     INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  updated_by   TEXT,
  name         TEXT    NOT NULL,
  mapping      TEXT,
  properties   TEXT,
  PRIMARY KEY (workspace_id, team_id, revision)
) STRICT, WITHOUT ROWID;

-- Deleted user groups, kept as long as they can be restored.
CREATE TABLE deleted_user_group (
  workspace_id    INTEGER NOT NULL,
  team_id         INTEGER NOT NULL,
  environment     TEXT    NOT NULL,
  provided_id     TEXT    NOT NULL,
  name            TEXT    NOT NULL,
  mapping         TEXT,
  properties      TEXT,
  token_hash      BLOB    NOT NULL,
  token_key_id    TEXT    NOT NULL,
  token_sealed    BLOB    NOT NULL,
  token_issued_at INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  revision        INTEGER NOT NULL,
  updated_by      TEXT,
  suspended_at    INTEGER,
  deleted_at      INTEGER NOT NULL,
  deleted_by      TEXT    NOT NULL,
  PRIMARY KEY (workspace_id, team_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX deleted_user_group_by_expiry ON deleted_user_group (deleted_at);

-- The last introspection of each user group, rounded down to the minute.
CREATE TABLE last_introspection (
  workspace_id    INTEGER NOT NULL,
  team_id         INTEGER NOT NULL,
  introspected_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, team_id)
) STRICT, WITHOUT ROWID;
