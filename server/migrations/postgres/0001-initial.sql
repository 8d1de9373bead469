-- All primary and unique keys start with workspace_id, so that the tables can be distributed by it (docs/scaling.md), except those
-- of small global tables (workspace, api_token, secret_key_check). COLLATE "C" makes text keys sort by code point, regardless of the
-- locale of the database.

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

-- The id of a deleted user group is never used again, because a sequence never decreases.
-- No foreign key to workspace: every creation would lock the row of its workspace. Workspaces are never deleted.
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

-- Superseded tokens are kept as long as their user group, so that rotating one again is not mistaken for an unknown token.
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

-- The first response to each rotation with an Idempotency-Key. Its token is encrypted for the same user group.
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
