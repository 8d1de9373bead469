-- `revision` goes up with each change of the row; `updated_by` is whose call set name, mapping and properties, and null
-- where that was before this migration.
ALTER TABLE user_group ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE user_group ADD COLUMN updated_by TEXT;
ALTER TABLE user_group ADD COLUMN suspended_at INTEGER;

CREATE INDEX user_group_suspended ON user_group (workspace_id, environment, team_id) WHERE suspended_at IS NOT NULL;

-- What a user group was at earlier revisions, up to the last one at which it was so. There is no foreign key: a deleted
-- user group keeps its versions for as long as it may be restored.
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

-- As they were when they were deleted, for as long as they may be restored.
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

-- When a renderer last asked about a user group, to the minute.
CREATE TABLE last_introspection (
  workspace_id    INTEGER NOT NULL,
  team_id         INTEGER NOT NULL,
  introspected_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, team_id)
) STRICT, WITHOUT ROWID;
