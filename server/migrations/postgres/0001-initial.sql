-- Every primary and unique key but those of what is small and global (workspace, api_token, secret_key_check) starts with
-- workspace_id, so that the tables can be distributed by it (docs/scaling.md). Keys that are text sort by code point, in
-- whatever locale the database was made: COLLATE "C".

CREATE TABLE workspace (
  workspace_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name         text   NOT NULL UNIQUE COLLATE "C",
  created_at   bigint NOT NULL
);

INSERT INTO workspace (name, created_at) VALUES ('default', floor(extract(epoch FROM now()) * 1000));

CREATE TABLE api_token (
  api_token_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  token_hash   bytea  NOT NULL UNIQUE,
  workspace_id bigint NOT NULL REFERENCES workspace (workspace_id),
  environment  text   NOT NULL CHECK (environment IN ('Customer', 'Testing')),
  name         text   NOT NULL,
  scopes       text   NOT NULL, -- separated by a space
  created_at   bigint NOT NULL,
  expires_at   bigint,
  revoked_at   bigint
);

-- The id of a deleted user group is never given to another: a sequence does not go back.
-- No foreign key to workspace: all creations of a workspace would lock its one row, and no workspace is ever deleted.
CREATE TABLE user_group (
  workspace_id    bigint NOT NULL,
  team_id         bigint GENERATED ALWAYS AS IDENTITY,
  token_issued_at bigint NOT NULL,
  created_at      bigint NOT NULL,
  updated_at      bigint NOT NULL,
  environment     text   NOT NULL COLLATE "C" CHECK (environment IN ('Customer', 'Testing')),
  provided_id     text   NOT NULL COLLATE "C",
  name            text   NOT NULL,
  mapping         text,
  properties      text,
  token_hash      bytea  NOT NULL,
  token_key_id    text   NOT NULL,
  token_sealed    bytea  NOT NULL,
  PRIMARY KEY (workspace_id, team_id),
  UNIQUE (workspace_id, environment, provided_id),
  UNIQUE (workspace_id, token_hash)
);

-- A replaced token is remembered for as long as its user group, so that rotating it again is told apart from a typo.
CREATE TABLE superseded_token (
  workspace_id  bigint NOT NULL,
  team_id       bigint NOT NULL,
  issued_at     bigint NOT NULL,
  superseded_at bigint NOT NULL,
  valid_until   bigint NOT NULL,
  token_hash    bytea  NOT NULL,
  PRIMARY KEY (workspace_id, token_hash),
  FOREIGN KEY (workspace_id, team_id) REFERENCES user_group (workspace_id, team_id) ON DELETE CASCADE
);

CREATE INDEX superseded_token_by_user_group ON superseded_token (workspace_id, team_id);

-- The first answer to a rotation that had an Idempotency-Key, its token sealed for the same user group.
CREATE TABLE idempotency_key (
  workspace_id bigint NOT NULL,
  team_id      bigint NOT NULL,
  expires_at   bigint NOT NULL,
  environment  text   NOT NULL COLLATE "C",
  key_hash     bytea  NOT NULL,
  fingerprint  bytea  NOT NULL,
  provided_id  text   NOT NULL,
  name         text   NOT NULL,
  token_key_id text   NOT NULL,
  token_sealed bytea  NOT NULL,
  PRIMARY KEY (workspace_id, environment, key_hash),
  FOREIGN KEY (workspace_id, team_id) REFERENCES user_group (workspace_id, team_id) ON DELETE CASCADE
);

CREATE INDEX idempotency_key_by_expiry ON idempotency_key (expires_at);

CREATE INDEX idempotency_key_by_user_group ON idempotency_key (workspace_id, team_id);

CREATE TABLE secret_key_check (
  key_id text  PRIMARY KEY COLLATE "C",
  sealed bytea NOT NULL
);
