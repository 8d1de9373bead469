-- Webhooks (decision 0035). On Citus these tables stay empty, because events have no order there.
CREATE TABLE webhook_endpoint (
  webhook_endpoint_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id        bigint NOT NULL,
  environment         text   NOT NULL COLLATE "C" CHECK (environment IN ('Customer', 'Testing')),
  name                text   NOT NULL,
  url                 text   NOT NULL,
  -- A JSON array. Empty for all types.
  event_types         text   NOT NULL,
  state               text   NOT NULL CHECK (state IN ('active', 'paused', 'disabled')),
  created_at          bigint NOT NULL,
  updated_at          bigint NOT NULL,
  last_success_at     bigint,
  -- Start of the first failed attempt after the last success.
  failing_since       bigint
);

CREATE INDEX webhook_endpoint_by_environment ON webhook_endpoint (workspace_id, environment, webhook_endpoint_id);

-- The current secret of an endpoint has the highest number and never expires.
CREATE TABLE webhook_secret (
  webhook_endpoint_id bigint NOT NULL REFERENCES webhook_endpoint (webhook_endpoint_id) ON DELETE CASCADE,
  secret_number       bigint NOT NULL,
  workspace_id        bigint NOT NULL,
  environment         text   NOT NULL COLLATE "C",
  token_key_id        text   NOT NULL COLLATE "C",
  token_sealed        bytea  NOT NULL,
  expires_at          bigint,
  PRIMARY KEY (webhook_endpoint_id, secret_number)
);

-- One row: the process that delivers, and the position in the events up to which deliveries have been written. Each transaction that
-- changes endpoints or deliveries locks it first, so that the queues below change one after the other.
CREATE TABLE webhook_leader (
  holder     text,
  expires_at bigint NOT NULL,
  position   text
);

INSERT INTO webhook_leader (expires_at) VALUES (0);

-- The undelivered rows of an endpoint and user group form a queue in the order of their ids. Only the first has next_attempt_at.
CREATE TABLE webhook_delivery (
  webhook_delivery_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_endpoint_id bigint NOT NULL,
  workspace_id        bigint NOT NULL,
  environment         text   NOT NULL COLLATE "C",
  event_id            uuid   NOT NULL,
  event_type          text   NOT NULL,
  -- 0 for an event that concerns no user group.
  team_id             bigint NOT NULL,
  body                text   NOT NULL,
  state               text   NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'failing', 'delivered')),
  attempts            bigint NOT NULL DEFAULT 0,
  first_attempt_at    bigint,
  last_attempt_at     bigint,
  next_attempt_at     bigint,
  response_status     bigint,
  duration_ms         bigint,
  error_code          text
);

CREATE INDEX webhook_delivery_by_endpoint ON webhook_delivery (webhook_endpoint_id, webhook_delivery_id);
CREATE INDEX webhook_delivery_by_event ON webhook_delivery (event_id);
CREATE INDEX webhook_delivery_queue ON webhook_delivery (webhook_endpoint_id, team_id, webhook_delivery_id, state)
  WHERE state <> 'delivered';
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook_endpoint_id, next_attempt_at, webhook_delivery_id)
  WHERE next_attempt_at IS NOT NULL;

SELECT grant_like_user_group('webhook_endpoint', 'webhook_secret', 'webhook_leader', 'webhook_delivery');
