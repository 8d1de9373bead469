-- Webhooks (decision 0035). The ids are in URLs of the API, so the id of a deleted endpoint is never used again.
CREATE TABLE webhook_endpoint (
  webhook_endpoint_id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id        INTEGER NOT NULL REFERENCES workspace (workspace_id),
  environment         TEXT    NOT NULL CHECK (environment IN ('Customer', 'Testing')),
  name                TEXT    NOT NULL,
  url                 TEXT    NOT NULL,
  -- A JSON array. Empty for all types.
  event_types         TEXT    NOT NULL,
  state               TEXT    NOT NULL CHECK (state IN ('active', 'paused', 'disabled')),
  created_at          INTEGER NOT NULL,
  updated_at          INTEGER NOT NULL,
  last_success_at     INTEGER,
  -- Start of the first failed attempt after the last success.
  failing_since       INTEGER
) STRICT;

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
  -- 0 for an event that concerns no user group.
  team_id             INTEGER NOT NULL,
  body                TEXT    NOT NULL,
  state               TEXT    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'failing', 'delivered')),
  attempts            INTEGER NOT NULL DEFAULT 0,
  first_attempt_at    INTEGER,
  last_attempt_at     INTEGER,
  next_attempt_at     INTEGER,
  response_status     INTEGER,
  duration_ms         INTEGER,
  error_code          TEXT
) STRICT;

CREATE INDEX webhook_delivery_by_endpoint ON webhook_delivery (webhook_endpoint_id, webhook_delivery_id);
CREATE INDEX webhook_delivery_by_event ON webhook_delivery (event_id);
CREATE INDEX webhook_delivery_queue ON webhook_delivery (webhook_endpoint_id, team_id, webhook_delivery_id, state)
  WHERE state <> 'delivered';
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook_endpoint_id, next_attempt_at, webhook_delivery_id)
  WHERE next_attempt_at IS NOT NULL;
