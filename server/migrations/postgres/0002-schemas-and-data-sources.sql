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

-- What says whether a workspace's and environment's schemas and data sources are still those that were looked up: drawn
-- anew by each change of one, never counted, so that none returns after a failover that lost some.
CREATE TABLE registry (
  workspace_id bigint NOT NULL,
  environment  text   NOT NULL COLLATE "C",
  version      text   NOT NULL,
  PRIMARY KEY (workspace_id, environment)
);

-- The mappings of the user groups, entry by entry, to find those that a data source is mapped by. One with U+0000 or
-- U+FFFF can name none, and is not kept. There is no foreign key to user_group: each creation would pay for it, and the
-- statements that change user_group keep both in step, but for entries too many where two change one user group at once.
CREATE TABLE mapping_entry (
  workspace_id    bigint NOT NULL,
  team_id         bigint NOT NULL,
  environment     text   NOT NULL COLLATE "C",
  schema_key      text   NOT NULL COLLATE "C",
  data_source_key text   NOT NULL COLLATE "C",
  PRIMARY KEY (workspace_id, environment, schema_key, data_source_key, team_id)
);

-- U+0000, which no text can hold, is read as U+FFFF. No JSON text has U+0001 as it is: it keeps the place of an escaped
-- backslash.
INSERT INTO mapping_entry (workspace_id, team_id, environment, schema_key, data_source_key)
SELECT workspace_id, team_id, environment, entry.key, entry.value
FROM user_group CROSS JOIN LATERAL json_each_text(
  replace(replace(replace(mapping, '\\', chr(1)), '\u0000', '\uffff'), chr(1), '\\')::json
) AS entry
WHERE mapping IS NOT NULL AND strpos(entry.key, chr(65535)) = 0 AND strpos(entry.value, chr(65535)) = 0;

ANALYZE mapping_entry;
