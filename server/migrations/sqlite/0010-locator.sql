-- Tokens contain a locator (team id and bucket), so that no index over token hashes is needed. The key encrypts locators.
CREATE TABLE locator_key (
  key BLOB NOT NULL
) STRICT;

INSERT INTO locator_key (key) VALUES (randomblob(16));

-- Locates the tokens that were issued before tokens had locators. Stores that were created after this migration lack the table. The
-- bucket is null if a running process of the previous release issued the token: it cannot compute buckets.
CREATE TABLE legacy_token (
  token_hash BLOB    NOT NULL PRIMARY KEY,
  team_id    INTEGER NOT NULL,
  bucket     INTEGER
) STRICT, WITHOUT ROWID;

INSERT INTO legacy_token (token_hash, team_id, bucket)
SELECT token_hash, team_id, user_group_bucket(workspace_id, environment, provided_id) FROM user_group
UNION ALL
SELECT superseded_token.token_hash, team_id, user_group_bucket(user_group.workspace_id, environment, provided_id)
FROM superseded_token JOIN user_group USING (team_id)
UNION ALL
SELECT token_hash, team_id, user_group_bucket(workspace_id, environment, provided_id) FROM deleted_user_group
ORDER BY token_hash;

-- SQLite cannot drop a unique constraint, so the tables are copied. Superseded tokens and idempotency keys have no foreign key any
-- more: it would need an index over team_id alone. The deletion of a user group deletes them.
CREATE TABLE new_superseded_token (
  workspace_id  INTEGER NOT NULL,
  team_id       INTEGER NOT NULL,
  token_hash    BLOB    NOT NULL,
  issued_at     INTEGER NOT NULL,
  superseded_at INTEGER NOT NULL,
  valid_until   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, team_id, token_hash)
) STRICT, WITHOUT ROWID;

INSERT INTO new_superseded_token (workspace_id, team_id, token_hash, issued_at, superseded_at, valid_until)
SELECT workspace_id, team_id, token_hash, issued_at, superseded_at, valid_until FROM superseded_token
ORDER BY workspace_id, team_id, token_hash;

CREATE TABLE new_idempotency_key (
  workspace_id INTEGER NOT NULL,
  team_id      INTEGER NOT NULL,
  key_hash     BLOB    NOT NULL,
  environment  TEXT    NOT NULL,
  fingerprint  BLOB    NOT NULL,
  provided_id  TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  token_key_id TEXT    NOT NULL,
  token_sealed BLOB    NOT NULL,
  expires_at   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, team_id, key_hash)
) STRICT, WITHOUT ROWID;

INSERT INTO new_idempotency_key (workspace_id, team_id, key_hash, environment, fingerprint, provided_id, name, token_key_id,
                                 token_sealed, expires_at)
SELECT workspace_id, team_id, key_hash, environment, fingerprint, provided_id, name, token_key_id, token_sealed, expires_at
FROM idempotency_key;

CREATE TABLE new_user_group (
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
  revision        INTEGER NOT NULL DEFAULT 1,
  updated_by      TEXT,
  suspended_at    INTEGER,
  UNIQUE (workspace_id, environment, provided_id)
) STRICT;

INSERT INTO new_user_group (team_id, workspace_id, environment, provided_id, name, mapping, properties, token_hash, token_key_id,
                            token_sealed, token_issued_at, created_at, updated_at, revision, updated_by, suspended_at)
SELECT team_id, workspace_id, environment, provided_id, name, mapping, properties, token_hash, token_key_id,
       token_sealed, token_issued_at, created_at, updated_at, revision, updated_by, suspended_at
FROM user_group ORDER BY team_id;

-- Ids of deleted user groups count too.
DELETE FROM sqlite_sequence WHERE name = 'new_user_group';
INSERT INTO sqlite_sequence (name, seq) SELECT 'new_user_group', seq FROM sqlite_sequence WHERE name = 'user_group';

-- The referring tables first, because dropping a table deletes the rows that refer to it.
DROP TABLE superseded_token;
DROP TABLE idempotency_key;
DROP TABLE user_group;

ALTER TABLE new_user_group RENAME TO user_group;
ALTER TABLE new_superseded_token RENAME TO superseded_token;
ALTER TABLE new_idempotency_key RENAME TO idempotency_key;

CREATE INDEX user_group_suspended ON user_group (workspace_id, environment, team_id) WHERE suspended_at IS NOT NULL;
CREATE INDEX idempotency_key_by_expiry ON idempotency_key (expires_at);

-- The previous release issues shorter tokens, without locators. Encryption adds 28 bytes.
CREATE TRIGGER user_group_insert_legacy AFTER INSERT ON user_group WHEN length(new.token_sealed) < 85 BEGIN
  INSERT OR IGNORE INTO legacy_token (token_hash, team_id) VALUES (new.token_hash, new.team_id);
END;
CREATE TRIGGER user_group_update_legacy AFTER UPDATE OF token_hash ON user_group WHEN length(new.token_sealed) < 85 BEGIN
  INSERT OR IGNORE INTO legacy_token (token_hash, team_id) VALUES (new.token_hash, new.team_id);
END;

CREATE TRIGGER user_group_update_counted AFTER UPDATE ON user_group BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER user_group_delete_counted AFTER DELETE ON user_group BEGIN UPDATE change_count SET count = count + 1; END;
