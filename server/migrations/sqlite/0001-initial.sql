CREATE TABLE workspace (
  workspace_id INTEGER PRIMARY KEY,
  name         TEXT    NOT NULL UNIQUE,
  created_at   INTEGER NOT NULL
) STRICT;

INSERT INTO workspace (name, created_at) VALUES ('default', unixepoch() * 1000);

CREATE TABLE api_token (
  api_token_id INTEGER PRIMARY KEY AUTOINCREMENT,
  token_hash   BLOB    NOT NULL UNIQUE,
  workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment  TEXT    NOT NULL CHECK (environment IN ('Customer', 'Testing')),
  name         TEXT    NOT NULL,
  scopes       TEXT    NOT NULL, -- separated by a space
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  revoked_at   INTEGER
) STRICT;

-- AUTOINCREMENT: the id of a deleted user group is never used again.
CREATE TABLE user_group (
  team_id         INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id    INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment     TEXT    NOT NULL CHECK (environment IN ('Customer', 'Testing')),
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
  UNIQUE (workspace_id, environment, provided_id),
  UNIQUE (workspace_id, token_hash)
) STRICT;

-- Superseded tokens are kept as long as their user group, so that rotating one again is not mistaken for an unknown token.
CREATE TABLE superseded_token (
  workspace_id  INTEGER NOT NULL,
  token_hash    BLOB    NOT NULL,
  team_id       INTEGER NOT NULL REFERENCES user_group (team_id) ON DELETE CASCADE,
  issued_at     INTEGER NOT NULL,
  superseded_at INTEGER NOT NULL,
  valid_until   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, token_hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX superseded_token_by_user_group ON superseded_token (team_id);

-- The first response to each rotation with an Idempotency-Key. Its token is encrypted for the same user group.
CREATE TABLE idempotency_key (
  workspace_id INTEGER NOT NULL,
  environment  TEXT    NOT NULL,
  key_hash     BLOB    NOT NULL,
  fingerprint  BLOB    NOT NULL,
  team_id      INTEGER NOT NULL REFERENCES user_group (team_id) ON DELETE CASCADE,
  provided_id  TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  token_key_id TEXT    NOT NULL,
  token_sealed BLOB    NOT NULL,
  expires_at   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, environment, key_hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_key_by_expiry ON idempotency_key (expires_at);

CREATE INDEX idempotency_key_by_user_group ON idempotency_key (team_id);

CREATE TABLE secret_key_check (
  key_id TEXT NOT NULL PRIMARY KEY,
  sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;
