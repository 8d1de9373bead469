-- AUTOINCREMENT: an id stands in mappings, and is never given to another.
CREATE TABLE schema (
  schema_id    INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment  TEXT    NOT NULL CHECK (environment IN ('Customer', 'Testing')),
  provided_id  TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  UNIQUE (workspace_id, environment, provided_id)
) STRICT;

CREATE TABLE data_source (
  data_source_id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id   INTEGER NOT NULL,
  schema_id      INTEGER NOT NULL REFERENCES schema (schema_id),
  provided_id    TEXT    NOT NULL,
  name           TEXT    NOT NULL,
  created_at     INTEGER NOT NULL,
  UNIQUE (schema_id, provided_id)
) STRICT;

-- What says whether a workspace's and environment's schemas and data sources are still those that were looked up: drawn
-- anew by each change of one, never counted, so that none returns after a restored backup.
CREATE TABLE registry (
  workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment  TEXT    NOT NULL,
  version      TEXT    NOT NULL,
  PRIMARY KEY (workspace_id, environment)
) STRICT, WITHOUT ROWID;

-- The mappings of the user groups, entry by entry, to find those that a data source is mapped by. One with U+0000 or
-- U+FFFF can name none, and is not kept.
CREATE TABLE mapping_entry (
  workspace_id    INTEGER NOT NULL,
  environment     TEXT    NOT NULL,
  schema_key      TEXT    NOT NULL,
  data_source_key TEXT    NOT NULL,
  team_id         INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, environment, schema_key, data_source_key, team_id)
) STRICT, WITHOUT ROWID;

INSERT INTO mapping_entry (workspace_id, environment, schema_key, data_source_key, team_id)
SELECT workspace_id, environment, entry.key, entry.value, team_id
FROM user_group, json_each(mapping) AS entry
WHERE mapping IS NOT NULL AND instr(entry.key, char(0)) = 0 AND instr(entry.value, char(0)) = 0
  AND instr(entry.key, char(65535)) = 0 AND instr(entry.value, char(65535)) = 0;
