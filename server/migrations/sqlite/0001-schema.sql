-- All tables of a SQLite store. Times are in milliseconds since the Unix epoch. The comment of a key or index names the queries that it
-- serves. AUTOINCREMENT, because ids are in URLs and mappings: the id of a deleted row is never used again.

CREATE TABLE workspace (
  workspace_id INTEGER PRIMARY KEY,
  name         TEXT    NOT NULL UNIQUE, -- creation of a workspace, `ugs --workspace`
  created_at   INTEGER NOT NULL
) STRICT;

INSERT INTO workspace (name, created_at) VALUES ('default', unixepoch() * 1000);

CREATE TABLE api_token (
  api_token_id     INTEGER PRIMARY KEY AUTOINCREMENT,
  token_hash       BLOB    NOT NULL UNIQUE, -- authentication of each request
  workspace_id     INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment      TEXT    NOT NULL CHECK (environment IN ('Customer', 'Testing')),
  name             TEXT    NOT NULL,
  scopes           TEXT    NOT NULL, -- separated by a space
  created_at       INTEGER NOT NULL,
  expires_at       INTEGER,
  revoked_at       INTEGER,
  last_used_at     INTEGER, -- rounded down to the minute
  -- The API token that replaced this one. No foreign key: a copy of the store inserts the older token first.
  replaced_by      INTEGER,
  -- The token's own rate limit, if any: requests per second, and burst.
  calls_per_second INTEGER,
  calls_at_once    INTEGER,
  -- The time until which past requests occupy the rate, in microseconds of a clock that all processes share.
  booked_until     INTEGER
) STRICT;

-- The API tokens of an environment.
CREATE INDEX api_token_by_environment ON api_token (workspace_id, environment);

-- `revision` increases with each change of the row. `updated_by` is the author of the last change of name, mapping and properties.
CREATE TABLE user_group (
  team_id         INTEGER PRIMARY KEY AUTOINCREMENT, -- introspection and rotation (the token's locator has the id), management API
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
  UNIQUE (workspace_id, environment, provided_id) -- GET and PUT of /api/user, search by user_group_id
) STRICT;

-- Search in order of names, and of creation times. Other times have no index: each change of a user group would write it.
CREATE INDEX user_group_by_name ON user_group (workspace_id, environment, lower(name), team_id);
CREATE INDEX user_group_by_creation ON user_group (workspace_id, environment, created_at, team_id);
-- Search with `suspended`.
CREATE INDEX user_group_suspended ON user_group (workspace_id, environment, team_id) WHERE suspended_at IS NOT NULL;

-- Changes that the search index lacks (decision 0043). `revision` is that of the user group, negative for a deletion, so that each change
-- has a row of its own. `removed_id` and `removed_name` are to be removed from the index.
CREATE TABLE unindexed_user_group (
  workspace_id INTEGER NOT NULL,
  environment  TEXT    NOT NULL,
  team_id      INTEGER NOT NULL,
  revision     INTEGER NOT NULL,
  removed_id   TEXT,
  removed_name TEXT,
  PRIMARY KEY (workspace_id, environment, team_id, revision) -- search, update of the search index
) STRICT, WITHOUT ROWID;

-- Removal of names from the search index.
CREATE INDEX unindexed_user_group_removed ON unindexed_user_group (workspace_id, environment, team_id) WHERE removed_name IS NOT NULL;

CREATE TRIGGER user_group_created AFTER INSERT ON user_group BEGIN
  INSERT OR IGNORE INTO unindexed_user_group VALUES (NEW.workspace_id, NEW.environment, NEW.team_id, NEW.revision, NULL, NULL);
END;
CREATE TRIGGER user_group_renamed AFTER UPDATE OF name ON user_group WHEN NEW.name <> OLD.name BEGIN
  INSERT OR IGNORE INTO unindexed_user_group VALUES (NEW.workspace_id, NEW.environment, NEW.team_id, NEW.revision, NULL, OLD.name);
END;
CREATE TRIGGER user_group_deleted AFTER DELETE ON user_group BEGIN
  INSERT OR IGNORE INTO unindexed_user_group VALUES (OLD.workspace_id, OLD.environment, OLD.team_id, -OLD.revision, OLD.provided_id, OLD.name);
END;

-- The search index: for each run of about 8,192 user groups, from `first_team_id` to that of the next run, and each three characters of
-- their folded names and ids, the user groups that have them. `team_ids` are differences to `first_team_id`, in ascending order, of three
-- bytes each, the lowest first. The empty gram has all user groups of the run.
CREATE TABLE search_posting (
  workspace_id  INTEGER NOT NULL,
  environment   TEXT    NOT NULL,
  first_team_id INTEGER NOT NULL,
  gram          TEXT    NOT NULL,
  team_count    INTEGER NOT NULL,
  team_ids      BLOB    NOT NULL,
  PRIMARY KEY (workspace_id, environment, first_team_id, gram) -- search
) STRICT, WITHOUT ROWID;

-- The runs of an environment.
CREATE INDEX search_posting_by_run ON search_posting (workspace_id, environment, first_team_id) WHERE gram = '';

-- Hashes of replaced tokens, kept as long as their user group, so that rotating one again is not mistaken for an unknown token. The
-- deletion of a user group deletes them. A foreign key would need an index over team_id alone.
CREATE TABLE superseded_token (
  workspace_id  INTEGER NOT NULL,
  team_id       INTEGER NOT NULL,
  token_hash    BLOB    NOT NULL,
  issued_at     INTEGER NOT NULL,
  superseded_at INTEGER NOT NULL,
  valid_until   INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, team_id, token_hash) -- introspection and rotation of a token that is not the current one
) STRICT, WITHOUT ROWID;

-- The first response to each rotation with an Idempotency-Key. Its token is encrypted for the same user group.
CREATE TABLE idempotency_key (
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
  PRIMARY KEY (workspace_id, team_id, key_hash) -- rotation with an Idempotency-Key
) STRICT, WITHOUT ROWID;

-- Deletion of expired keys.
CREATE INDEX idempotency_key_by_expiry ON idempotency_key (expires_at);

-- Earlier states of user groups. `revision` is the last one with that state. No foreign key: a deleted user group keeps its
-- versions as long as it can be restored.
CREATE TABLE user_group_version (
  workspace_id INTEGER NOT NULL,
  team_id      INTEGER NOT NULL,
  revision     INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  updated_by   TEXT,
  name         TEXT    NOT NULL,
  mapping      TEXT,
  properties   TEXT,
  PRIMARY KEY (workspace_id, team_id, revision) -- versions of a user group
) STRICT, WITHOUT ROWID;

-- Deleted user groups, kept as long as they can be restored.
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
  PRIMARY KEY (workspace_id, team_id) -- list and restoration of deleted user groups
) STRICT, WITHOUT ROWID;

-- Deletion after the retention.
CREATE INDEX deleted_user_group_by_expiry ON deleted_user_group (deleted_at);

-- The last introspection of each user group, rounded down to the minute.
CREATE TABLE last_introspection (
  workspace_id    INTEGER NOT NULL,
  team_id         INTEGER NOT NULL,
  introspected_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, team_id) -- search, view of a user group
) STRICT, WITHOUT ROWID;

-- The days of a month (202611, UTC) on which a viewer of a user group looked at a resource, as a bitmap whose bit 0 is the 1st. The viewer and
-- the resource are empty if they are unknown. No foreign key: rows stay after the deletion of their user group.
CREATE TABLE viewing (
  workspace_id INTEGER NOT NULL,
  environment  TEXT    NOT NULL,
  month        INTEGER NOT NULL,
  team_id      INTEGER NOT NULL,
  viewer_id    TEXT    NOT NULL,
  resource     TEXT    NOT NULL,
  days         INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL, -- rounded down to the minute
  PRIMARY KEY (workspace_id, environment, month, team_id, viewer_id, resource) -- marks, usage of a month, deletion after the retention
) STRICT, WITHOUT ROWID;

-- Known resources of a user group.
CREATE INDEX viewing_by_resource ON viewing (workspace_id, environment, month, team_id, resource) WHERE resource <> '';

-- Erasure of a viewer.
CREATE INDEX viewing_by_viewer ON viewing (workspace_id, environment, viewer_id) WHERE viewer_id <> '';

CREATE TABLE schema (
  schema_id    INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment  TEXT    NOT NULL CHECK (environment IN ('Customer', 'Testing')),
  provided_id  TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  UNIQUE (workspace_id, environment, provided_id) -- resolution of mappings, list of schemas
) STRICT;

CREATE TABLE data_source (
  data_source_id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id   INTEGER NOT NULL,
  schema_id      INTEGER NOT NULL REFERENCES schema (schema_id),
  provided_id    TEXT    NOT NULL,
  name           TEXT    NOT NULL,
  created_at     INTEGER NOT NULL,
  UNIQUE (schema_id, provided_id) -- resolution of mappings, data sources of a schema
) STRICT;

-- The version of the schemas and data sources of a workspace and environment. Each change sets a new random value. A counter could
-- repeat a value after a backup is restored.
CREATE TABLE registry (
  workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment  TEXT    NOT NULL,
  version      TEXT    NOT NULL,
  PRIMARY KEY (workspace_id, environment)
) STRICT, WITHOUT ROWID;

-- The entries of all mappings. Entries with U+0000 or U+FFFF cannot name a data source and are left out.
CREATE TABLE mapping_entry (
  workspace_id    INTEGER NOT NULL,
  environment     TEXT    NOT NULL,
  schema_key      TEXT    NOT NULL,
  data_source_key TEXT    NOT NULL,
  team_id         INTEGER NOT NULL,
  -- User groups of a data source: search, isolation findings, deletion of schemas and data sources.
  PRIMARY KEY (workspace_id, environment, schema_key, data_source_key, team_id)
) STRICT, WITHOUT ROWID;

-- Isolation findings that somebody accepted (decision 0052). `version` stands for the affected user groups at that time.
CREATE TABLE accepted_finding (
  workspace_id    INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment     TEXT    NOT NULL CHECK (environment IN ('Customer', 'Testing')),
  kind            TEXT    NOT NULL,
  schema_key      TEXT    NOT NULL,
  data_source_key TEXT    NOT NULL,
  version         TEXT    NOT NULL,
  reason          TEXT    NOT NULL,
  accepted_at     INTEGER NOT NULL,
  accepted_by     TEXT    NOT NULL,
  PRIMARY KEY (workspace_id, environment, kind, schema_key, data_source_key) -- isolation findings
) STRICT, WITHOUT ROWID;

-- The keys that sign viewer sessions. The latest of those whose time `signs_from` has come signs. `retired_at` is the time at which a key
-- leaves the key set, and its sessions end; null for the latest key.
CREATE TABLE signing_key (
  workspace_id   INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment    TEXT    NOT NULL CHECK (environment IN ('Customer', 'Testing')),
  signing_key_id TEXT    NOT NULL,
  public_jwk     TEXT    NOT NULL,
  token_key_id   TEXT    NOT NULL,
  token_sealed   BLOB    NOT NULL, -- the private key, encrypted like a token
  created_at     INTEGER NOT NULL,
  signs_from     INTEGER NOT NULL,
  retired_at     INTEGER,
  PRIMARY KEY (workspace_id, environment, signing_key_id) -- creation and introspection of viewer sessions, the key set
) STRICT, WITHOUT ROWID;

-- Viewer sessions issued at `ended_at` or earlier are over: those of the viewer `v/ID`, the session `s/ID`, or, for the empty subject,
-- all of the user group. Kept for as long as a session can last.
CREATE TABLE ended_session (
  workspace_id INTEGER NOT NULL,
  team_id      INTEGER NOT NULL,
  subject      TEXT    NOT NULL,
  ended_at     INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, team_id, subject) -- introspection of a viewer session
) STRICT, WITHOUT ROWID;

-- Deletion of expired rows.
CREATE INDEX ended_session_by_expiry ON ended_session (ended_at);

-- The sessions of the web console. Only the SHA-256 of a session's secret is stored.
CREATE TABLE console_session (
  session_hash BLOB    NOT NULL PRIMARY KEY, -- each request of the console
  workspace_id INTEGER NOT NULL,
  environment  TEXT    NOT NULL,
  api_token_id INTEGER REFERENCES api_token (api_token_id), -- NULL for a person
  person       TEXT, -- id at the identity provider
  person_name  TEXT,
  person_email TEXT,
  role         TEXT, -- scope of a person
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Deletion of expired sessions.
CREATE INDEX console_session_by_use ON console_session (last_used_at);
-- Deletion of the oldest sessions of an API token.
CREATE INDEX console_session_by_api_token ON console_session (api_token_id, last_used_at);
-- Deletion of the oldest sessions of a person.
CREATE INDEX console_session_by_person ON console_session (person, last_used_at);

-- One-time links that sign in to the web console (decision 0036). Only the SHA-256 of a link's secret is stored.
CREATE TABLE sign_in_link (
  link_hash    BLOB    NOT NULL PRIMARY KEY,
  api_token_id INTEGER NOT NULL REFERENCES api_token (api_token_id),
  expires_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Jobs: one change of many user groups each (decision 0046). A process works on a job until its claim ends.
CREATE TABLE job (
  job_id               INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id         INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment          TEXT    NOT NULL CHECK (environment IN ('Customer', 'Testing')),
  action               TEXT    NOT NULL,
  grace_period_seconds INTEGER NOT NULL,
  selection            TEXT    NOT NULL, -- a JSON object: a search, or team ids
  author               TEXT    NOT NULL,
  api_token_id         INTEGER, -- the API token that created it
  total_count          INTEGER NOT NULL,
  is_total_exact       INTEGER NOT NULL,
  created_at           INTEGER NOT NULL,
  started_at           INTEGER,
  canceled_at          INTEGER,
  finished_at          INTEGER,
  planned              TEXT    NOT NULL DEFAULT '[]', -- a JSON array: the user groups that are being changed
  position             TEXT, -- place in the selection after those
  done                 INTEGER NOT NULL DEFAULT 0,
  unchanged            INTEGER NOT NULL DEFAULT 0,
  failed               INTEGER NOT NULL DEFAULT 0,
  holder               TEXT,
  claimed_until        INTEGER NOT NULL DEFAULT 0
) STRICT;

-- List of jobs, newest first.
CREATE INDEX job_by_environment ON job (workspace_id, environment, job_id);
-- Due jobs, number of unfinished jobs.
CREATE INDEX job_unfinished ON job (workspace_id, job_id) WHERE finished_at IS NULL;
-- Deletion after the retention.
CREATE INDEX job_by_end ON job (finished_at) WHERE finished_at IS NOT NULL;

-- The results of jobs, numbered in the order of the user groups.
CREATE TABLE job_result (
  job_id        INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  team_id       INTEGER NOT NULL,
  provided_id   TEXT,
  outcome       TEXT    NOT NULL,
  error_code    TEXT,
  error_message TEXT,
  PRIMARY KEY (job_id, number) -- list of results
) STRICT, WITHOUT ROWID;

-- List of results with an outcome.
CREATE INDEX job_result_by_outcome ON job_result (job_id, outcome, number);

-- Proof of each secret key, never the key.
CREATE TABLE secret_key_check (
  key_id TEXT NOT NULL PRIMARY KEY,
  sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Retired secret keys. The store refuses to write a token that was encrypted with one of them.
CREATE TABLE retired_secret_key (
  key_id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The key of the locators (team id and bucket) in user group tokens. It protects no secret.
CREATE TABLE locator_key (
  key BLOB NOT NULL
) STRICT;

INSERT INTO locator_key (key) VALUES (randomblob(16));

-- The audit log: one row per change, written in the same transaction. The id is a version 7 UUID (RFC 9562), which contains the
-- time, so that the primary key sorts by time.
CREATE TABLE audit_event (
  workspace_id INTEGER NOT NULL,
  environment  TEXT    NOT NULL,
  event_id     TEXT    NOT NULL,
  action       TEXT    NOT NULL,
  author       TEXT    NOT NULL,
  request_id   TEXT, -- and with a space before each, the address of the client and its User-Agent
  team_id      INTEGER,
  provided_id  TEXT,
  details      TEXT,
  PRIMARY KEY (workspace_id, environment, event_id) -- the audit log, newest first
) STRICT, WITHOUT ROWID;

-- Audit log of a user group. Excludes creations, the most frequent event: they are found by the creation time of the user group.
CREATE INDEX audit_event_by_user_group ON audit_event (workspace_id, team_id, event_id)
WHERE team_id IS NOT NULL AND action <> 'user_group.created';

-- Events for the feed (decision 0032). Transactions write one after the other, so the row ids are the order of the commits. The newest
-- event is never deleted, so that SQLite does not repeat its id.
CREATE TABLE event (
  position     INTEGER PRIMARY KEY, -- the feed
  workspace_id INTEGER NOT NULL,
  environment  TEXT    NOT NULL,
  event_id     TEXT    NOT NULL,
  type         TEXT    NOT NULL,
  team_id      INTEGER,
  provided_id  TEXT,
  revision     INTEGER,
  token_hash   BLOB
) STRICT;

-- Part of each position, so that positions of another store, or of a restored backup, are recognized.
CREATE TABLE event_log (
  store_id TEXT NOT NULL
) STRICT;

INSERT INTO event_log (store_id) VALUES (lower(hex(randomblob(4))));

-- Each audit event of these types is an event. The service adds the hash of the only token that is concerned. For IN, SQLite would build
-- an index at each insertion.
CREATE TRIGGER audit_event_insert_event AFTER INSERT ON audit_event
WHEN new.action = 'user_group.created' OR new.action = 'user_group.updated' OR new.action = 'user_group.token_rotated'
  OR new.action = 'user_group.grace_period_ended' OR new.action = 'user_group.suspended' OR new.action = 'user_group.resumed'
  OR new.action = 'user_group.deleted' OR new.action = 'user_group.restored' OR new.action = 'schema.created'
  OR new.action = 'schema.updated' OR new.action = 'schema.deleted' OR new.action = 'data_source.created'
  OR new.action = 'data_source.updated' OR new.action = 'data_source.deleted'
  OR new.action = 'api_token.revoked' OR new.action = 'user_group.sessions_ended' OR new.action = 'signing_key.retired'
BEGIN
  INSERT INTO event (workspace_id, environment, event_id, type, team_id, provided_id, revision)
  VALUES (new.workspace_id, new.environment, new.event_id, new.action, new.team_id, new.provided_id,
          coalesce((SELECT revision FROM user_group WHERE team_id = new.team_id),
                   (SELECT revision FROM deleted_user_group WHERE workspace_id = new.workspace_id AND team_id = new.team_id)));
END;

-- Counts the changes that can affect a cached response. A process that notices another process's write checks this count to find
-- out whether its cache is still valid. Most writes, such as an API token's last use, do not change it.
CREATE TABLE change_count (
  count INTEGER NOT NULL
) STRICT;

INSERT INTO change_count VALUES (0);

-- Insertions of user groups need no trigger: no response is cached before one exists, or after its deletion. Each change of a
-- schema or data source also changes the registry version.
CREATE TRIGGER user_group_update_counted AFTER UPDATE ON user_group BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER user_group_delete_counted AFTER DELETE ON user_group BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER registry_insert_counted AFTER INSERT ON registry BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER registry_update_counted AFTER UPDATE ON registry BEGIN UPDATE change_count SET count = count + 1; END;
CREATE TRIGGER registry_delete_counted AFTER DELETE ON registry BEGIN UPDATE change_count SET count = count + 1; END;

-- Webhooks (decision 0035).
CREATE TABLE webhook_endpoint (
  webhook_endpoint_id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id        INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment         TEXT    NOT NULL CHECK (environment IN ('Customer', 'Testing')),
  name                TEXT    NOT NULL,
  url                 TEXT    NOT NULL,
  event_types         TEXT    NOT NULL, -- a JSON array; empty for all types
  state               TEXT    NOT NULL CHECK (state IN ('active', 'paused', 'disabled')),
  created_at          INTEGER NOT NULL,
  updated_at          INTEGER NOT NULL,
  last_success_at     INTEGER,
  failing_since       INTEGER -- start of the first failed attempt after the last success
) STRICT;

-- List of endpoints, and the endpoints of an event.
CREATE INDEX webhook_endpoint_by_environment ON webhook_endpoint (workspace_id, environment, webhook_endpoint_id);

-- The current secret of an endpoint has the highest number and never expires.
CREATE TABLE webhook_secret (
  webhook_endpoint_id INTEGER NOT NULL REFERENCES webhook_endpoint (webhook_endpoint_id) ON DELETE CASCADE,
  secret_number       INTEGER NOT NULL,
  workspace_id        INTEGER NOT NULL,
  environment         TEXT    NOT NULL,
  token_key_id        TEXT    NOT NULL,
  token_sealed        BLOB    NOT NULL,
  expires_at          INTEGER,
  PRIMARY KEY (webhook_endpoint_id, secret_number)
) STRICT, WITHOUT ROWID;

-- One row: the process that delivers, and the position in the events up to which deliveries have been written.
CREATE TABLE webhook_leader (
  holder     TEXT,
  expires_at INTEGER NOT NULL,
  position   TEXT
) STRICT;

INSERT INTO webhook_leader (expires_at) VALUES (0);

-- The undelivered rows of an endpoint and user group form a queue in the order of their ids. Only the first has next_attempt_at.
CREATE TABLE webhook_delivery (
  webhook_delivery_id INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_endpoint_id INTEGER NOT NULL,
  workspace_id        INTEGER NOT NULL,
  environment         TEXT    NOT NULL,
  event_id            TEXT    NOT NULL,
  event_type          TEXT    NOT NULL,
  team_id             INTEGER NOT NULL, -- 0 for an event that concerns no user group
  body                TEXT    NOT NULL,
  state               TEXT    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'failing', 'delivered')),
  attempts            INTEGER NOT NULL DEFAULT 0,
  first_attempt_at    INTEGER,
  last_attempt_at     INTEGER,
  next_attempt_at     INTEGER,
  response_status     INTEGER,
  duration_ms         INTEGER,
  error_code          TEXT,
  signature           TEXT, -- of the last attempt
  response_headers    TEXT -- a JSON object with the first bytes of the last response
) STRICT;

-- List of deliveries, newest first.
CREATE INDEX webhook_delivery_by_endpoint ON webhook_delivery (webhook_endpoint_id, webhook_delivery_id);
-- Deletion after the retention, redelivery of a time range: event ids contain the time.
CREATE INDEX webhook_delivery_by_event ON webhook_delivery (event_id);
-- The next delivery of a user group, counts of waiting deliveries.
CREATE INDEX webhook_delivery_queue ON webhook_delivery (webhook_endpoint_id, team_id, webhook_delivery_id, state)
  WHERE state <> 'delivered';
-- Due deliveries.
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook_endpoint_id, next_attempt_at, webhook_delivery_id)
  WHERE next_attempt_at IS NOT NULL;
