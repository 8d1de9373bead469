CREATE TABLE schema (
  workspace_id bigint NOT NULL,
  schema_id    bigint GENERATED ALWAYS AS IDENTITY,
  environment  text   NOT NULL COLLATE "C" CHECK (environment IN ('Customer', 'Testing')),
  provided_id  text   NOT NULL COLLATE "C",
  name         text   NOT NULL,
  created_at   bigint NOT NULL,
  PRIMARY KEY (workspace_id, schema_id),
  UNIQUE (workspace_id, environment, provided_id)
);

CREATE TABLE data_source (
  workspace_id   bigint NOT NULL,
  data_source_id bigint GENERATED ALWAYS AS IDENTITY,
  schema_id      bigint NOT NULL,
  provided_id    text   NOT NULL COLLATE "C",
  name           text   NOT NULL,
  created_at     bigint NOT NULL,
  PRIMARY KEY (workspace_id, data_source_id),
  UNIQUE (workspace_id, schema_id, provided_id),
  FOREIGN KEY (workspace_id, schema_id) REFERENCES schema (workspace_id, schema_id)
);

-- The version of the schemas and data sources of a workspace and environment. Each change sets a new random value. A counter could
-- repeat a value after a failover that lost changes.
CREATE TABLE registry (
  workspace_id bigint NOT NULL,
  environment  text   NOT NULL COLLATE "C",
  version      text   NOT NULL,
  PRIMARY KEY (workspace_id, environment)
);

-- The entries of all mappings, to find the user groups of a data source. Entries with U+0000 or U+FFFF cannot name a data source
-- and are left out. No foreign key to user_group: each creation would pay for it. Statements that change a user group also
-- change its entries; concurrent changes of one user group can leave extra entries.
CREATE TABLE mapping_entry (
  workspace_id    bigint NOT NULL,
  team_id         bigint NOT NULL,
  environment     text   NOT NULL COLLATE "C",
  schema_key      text   NOT NULL COLLATE "C",
  data_source_key text   NOT NULL COLLATE "C",
  PRIMARY KEY (workspace_id, environment, schema_key, data_source_key, team_id)
);

-- Replaces U+0000, which a PostgreSQL text cannot contain, with U+FFFF. Escaped backslashes become U+0001 in between, because no JSON
-- text contains it unescaped.
INSERT INTO mapping_entry (workspace_id, team_id, environment, schema_key, data_source_key)
SELECT workspace_id, team_id, environment, entry.key, entry.value
FROM user_group CROSS JOIN LATERAL json_each_text(
  replace(replace(replace(mapping, '\\', chr(1)), '\u0000', '\uffff'), chr(1), '\\')::json
) AS entry
WHERE mapping IS NOT NULL AND strpos(entry.key, chr(65535)) = 0 AND strpos(entry.value, chr(65535)) = 0;

ANALYZE mapping_entry;
