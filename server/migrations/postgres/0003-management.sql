-- `revision` increases with each change of the row. `updated_by` is the author of the last change of name, mapping and properties;
-- null if that was before this migration.
ALTER TABLE user_group
  ADD COLUMN revision     bigint NOT NULL DEFAULT 1,
  ADD COLUMN updated_by   text,
  ADD COLUMN suspended_at bigint;

CREATE INDEX user_group_suspended ON user_group (workspace_id, environment, team_id) WHERE suspended_at IS NOT NULL;

-- Earlier states of user groups. `revision` is the last one with that state. No foreign key: a deleted user group keeps its
-- versions as long as it can be restored.
CREATE TABLE user_group_version (
  workspace_id bigint NOT NULL,
  team_id      bigint NOT NULL,
  revision     bigint NOT NULL,
  updated_at   bigint NOT NULL,
  updated_by   text,
  name         text   NOT NULL,
  mapping      text,
  properties   text,
  PRIMARY KEY (workspace_id, team_id, revision)
);

-- Deleted user groups, kept as long as they can be restored.
CREATE TABLE deleted_user_group (
  workspace_id    bigint NOT NULL,
  team_id         bigint NOT NULL,
  token_issued_at bigint NOT NULL,
  created_at      bigint NOT NULL,
  updated_at      bigint NOT NULL,
  deleted_at      bigint NOT NULL,
  revision        bigint NOT NULL,
  suspended_at    bigint,
  environment     text   NOT NULL COLLATE "C",
  provided_id     text   NOT NULL COLLATE "C",
  name            text   NOT NULL,
  mapping         text,
  properties      text,
  updated_by      text,
  deleted_by      text   NOT NULL,
  token_hash      bytea  NOT NULL,
  token_key_id    text   NOT NULL,
  token_sealed    bytea  NOT NULL,
  PRIMARY KEY (workspace_id, team_id)
);

CREATE INDEX deleted_user_group_by_expiry ON deleted_user_group (deleted_at);

-- The last introspection of each user group, rounded down to the minute.
CREATE TABLE last_introspection (
  workspace_id    bigint NOT NULL,
  team_id         bigint NOT NULL,
  introspected_at bigint NOT NULL,
  PRIMARY KEY (workspace_id, team_id)
);
