-- AUTOINCREMENT: mappings contain ids, so the id of a deleted row is never used again.
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

-- The version of the schemas and data sources of a workspace and environment. Each change sets a new random value. A counter could
-- repeat a value after a backup is restored.
CREATE TABLE registry (
  workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment  TEXT    NOT NULL,
  version      TEXT    NOT NULL,
  PRIMARY KEY (workspace_id, environment)
) STRICT, WITHOUT ROWID;

-- The entries of all mappings, to find the user groups of a data source. Entries with U+0000 or U+FFFF cannot name a data source
-- and are left out.
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
