-- All tables and functions of a PostgreSQL store. Times are in milliseconds since the Unix epoch. The comment of a key or index names the
-- queries that it serves. Comments of the columns are in ../sqlite/0001-schema.sql, whose tables are the same but for the following:
--
-- - Each row of a user group has the bucket of its user group, a number from 0 to 1023 (`bucketOf` in the service), at the end of every
--   key, so that the large tables can be partitioned and distributed (docs/scaling.md). They have no foreign keys: each write would pay
--   for them.
-- - COLLATE "C" makes text keys sort by code point, regardless of the locale of the database.
-- - The id of a deleted row is never used again, because a sequence never decreases.

CREATE TABLE workspace (
  workspace_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name         text   NOT NULL UNIQUE COLLATE "C", -- creation of a workspace, `ugs --workspace`
  created_at   bigint NOT NULL
);

INSERT INTO workspace (name, created_at) VALUES ('default', floor(extract(epoch FROM now()) * 1000));

CREATE TABLE api_token (
  api_token_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  token_hash       bytea  NOT NULL UNIQUE, -- authentication of each request
  workspace_id     bigint NOT NULL REFERENCES workspace (workspace_id),
  environment      text   NOT NULL CHECK (environment IN ('Customer', 'Testing')),
  name             text   NOT NULL,
  scopes           text   NOT NULL,
  created_at       bigint NOT NULL,
  expires_at       bigint,
  revoked_at       bigint,
  last_used_at     bigint,
  replaced_by      bigint,
  calls_per_second bigint,
  calls_at_once    bigint,
  booked_until     bigint
);

-- The API tokens of an environment.
CREATE INDEX api_token_by_environment ON api_token (workspace_id, environment);

-- The service draws team ids in blocks.
CREATE SEQUENCE user_group_team_id_seq MAXVALUE 9007199254740991;

CREATE TABLE user_group (
  workspace_id    bigint   NOT NULL,
  team_id         bigint   NOT NULL,
  token_issued_at bigint   NOT NULL,
  created_at      bigint   NOT NULL,
  updated_at      bigint   NOT NULL,
  revision        bigint   NOT NULL DEFAULT 1,
  suspended_at    bigint,
  bucket          smallint NOT NULL,
  environment     text     NOT NULL COLLATE "C" CHECK (environment IN ('Customer', 'Testing')),
  provided_id     text     NOT NULL COLLATE "C",
  name            text     NOT NULL,
  mapping         text,
  properties      text,
  updated_by      text,
  token_hash      bytea    NOT NULL,
  token_key_id    text     NOT NULL,
  token_sealed    bytea    NOT NULL,
  PRIMARY KEY (workspace_id, team_id, bucket) -- introspection and rotation (the token's locator has both ids), management API
);

-- GET and PUT of /api/user, search by user_group_id.
CREATE UNIQUE INDEX user_group_provided_id ON user_group (workspace_id, environment, provided_id, bucket);
-- Search in order of names, and of creation times. Other times have no index: HOT updates could not change them.
-- The expression keeps PostgreSQL without statistics from these indexes in other queries.
CREATE INDEX user_group_by_name ON user_group ((workspace_id + 0), environment, lower(name COLLATE "C"), team_id);
CREATE INDEX user_group_by_creation ON user_group ((workspace_id + 0), environment, created_at, team_id);
-- Search with `suspended`.
CREATE INDEX user_group_suspended ON user_group (workspace_id, environment, team_id) WHERE suspended_at IS NOT NULL;

CREATE TABLE unindexed_user_group (
  workspace_id bigint   NOT NULL,
  team_id      bigint   NOT NULL,
  revision     bigint   NOT NULL,
  bucket       smallint NOT NULL,
  environment  text     NOT NULL COLLATE "C",
  removed_id   text,
  removed_name text,
  PRIMARY KEY (workspace_id, environment, team_id, revision, bucket) -- search, update of the search index
);

-- Removal of names from the search index.
CREATE INDEX unindexed_user_group_removed ON unindexed_user_group (workspace_id, environment, team_id) WHERE removed_name IS NOT NULL;

CREATE TABLE search_posting (
  workspace_id  bigint NOT NULL,
  first_team_id bigint NOT NULL,
  team_count    bigint NOT NULL,
  environment   text   NOT NULL COLLATE "C",
  gram          text   NOT NULL COLLATE "C",
  team_ids      bytea  NOT NULL,
  PRIMARY KEY (workspace_id, environment, first_team_id, gram) -- search
);
-- Compression would cost more than it saves.
ALTER TABLE search_posting ALTER COLUMN team_ids SET STORAGE EXTERNAL;

-- The runs of an environment.
CREATE INDEX search_posting_by_run ON search_posting (workspace_id, environment, first_team_id) WHERE gram = '';

CREATE TABLE superseded_token (
  workspace_id  bigint   NOT NULL,
  team_id       bigint   NOT NULL,
  issued_at     bigint   NOT NULL,
  superseded_at bigint   NOT NULL,
  valid_until   bigint   NOT NULL,
  bucket        smallint NOT NULL,
  token_hash    bytea    NOT NULL,
  PRIMARY KEY (workspace_id, team_id, token_hash, bucket) -- introspection and rotation of a token that is not the current one
);

CREATE TABLE idempotency_key (
  workspace_id bigint   NOT NULL,
  team_id      bigint   NOT NULL,
  expires_at   bigint   NOT NULL,
  bucket       smallint NOT NULL,
  environment  text     NOT NULL COLLATE "C",
  key_hash     bytea    NOT NULL,
  fingerprint  bytea    NOT NULL,
  provided_id  text     NOT NULL,
  name         text     NOT NULL,
  token_key_id text     NOT NULL,
  token_sealed bytea    NOT NULL,
  PRIMARY KEY (workspace_id, team_id, key_hash, bucket) -- rotation with an Idempotency-Key
);

-- Deletion of expired keys.
CREATE INDEX idempotency_key_by_expiry ON idempotency_key (expires_at);

CREATE TABLE user_group_version (
  workspace_id bigint   NOT NULL,
  team_id      bigint   NOT NULL,
  revision     bigint   NOT NULL,
  updated_at   bigint   NOT NULL,
  bucket       smallint NOT NULL,
  updated_by   text,
  name         text     NOT NULL,
  mapping      text,
  properties   text,
  PRIMARY KEY (workspace_id, team_id, revision, bucket) -- versions of a user group
);

CREATE TABLE deleted_user_group (
  workspace_id    bigint   NOT NULL,
  team_id         bigint   NOT NULL,
  token_issued_at bigint   NOT NULL,
  created_at      bigint   NOT NULL,
  updated_at      bigint   NOT NULL,
  deleted_at      bigint   NOT NULL,
  revision        bigint   NOT NULL,
  suspended_at    bigint,
  bucket          smallint NOT NULL,
  environment     text     NOT NULL COLLATE "C",
  provided_id     text     NOT NULL COLLATE "C",
  name            text     NOT NULL,
  mapping         text,
  properties      text,
  updated_by      text,
  deleted_by      text     NOT NULL,
  token_hash      bytea    NOT NULL,
  token_key_id    text     NOT NULL,
  token_sealed    bytea    NOT NULL,
  PRIMARY KEY (workspace_id, team_id, bucket) -- list and restoration of deleted user groups
);

-- Deletion after the retention.
CREATE INDEX deleted_user_group_by_expiry ON deleted_user_group (deleted_at);

CREATE TABLE last_introspection (
  workspace_id    bigint   NOT NULL,
  team_id         bigint   NOT NULL,
  introspected_at bigint   NOT NULL,
  bucket          smallint NOT NULL,
  PRIMARY KEY (workspace_id, team_id, bucket) -- search, view of a user group
);

CREATE TABLE viewing (
  workspace_id bigint   NOT NULL,
  team_id      bigint   NOT NULL,
  last_seen_at bigint   NOT NULL,
  month        integer  NOT NULL,
  days         integer  NOT NULL,
  bucket       smallint NOT NULL,
  environment  text     NOT NULL COLLATE "C",
  viewer_id    text     NOT NULL COLLATE "C",
  resource     text     NOT NULL COLLATE "C",
  -- Marks, usage of a month, deletion after the retention.
  PRIMARY KEY (workspace_id, environment, month, team_id, viewer_id, resource, bucket)
);

-- Known resources of a user group.
CREATE INDEX viewing_by_resource ON viewing (workspace_id, environment, month, team_id, resource) WHERE resource <> '';

-- Erasure of a viewer.
CREATE INDEX viewing_by_viewer ON viewing (workspace_id, environment, viewer_id) WHERE viewer_id <> '';

CREATE TABLE schema (
  workspace_id bigint NOT NULL,
  schema_id    bigint GENERATED ALWAYS AS IDENTITY,
  environment  text   NOT NULL COLLATE "C" CHECK (environment IN ('Customer', 'Testing')),
  provided_id  text   NOT NULL COLLATE "C",
  name         text   NOT NULL,
  created_at   bigint NOT NULL,
  PRIMARY KEY (workspace_id, schema_id),
  UNIQUE (workspace_id, environment, provided_id) -- resolution of mappings, list of schemas
);

CREATE TABLE data_source (
  workspace_id   bigint NOT NULL,
  data_source_id bigint GENERATED ALWAYS AS IDENTITY,
  schema_id      bigint NOT NULL,
  provided_id    text   NOT NULL COLLATE "C",
  name           text   NOT NULL,
  created_at     bigint NOT NULL,
  PRIMARY KEY (workspace_id, data_source_id),
  UNIQUE (workspace_id, schema_id, provided_id), -- resolution of mappings, data sources of a schema
  FOREIGN KEY (workspace_id, schema_id) REFERENCES schema (workspace_id, schema_id)
);

CREATE TABLE registry (
  workspace_id bigint NOT NULL,
  environment  text   NOT NULL COLLATE "C",
  version      text   NOT NULL,
  PRIMARY KEY (workspace_id, environment)
);

-- Statements that change a user group also change its entries; concurrent changes of one user group can leave extra entries.
CREATE TABLE mapping_entry (
  workspace_id    bigint   NOT NULL,
  team_id         bigint   NOT NULL,
  bucket          smallint NOT NULL,
  environment     text     NOT NULL COLLATE "C",
  schema_key      text     NOT NULL COLLATE "C",
  data_source_key text     NOT NULL COLLATE "C",
  -- User groups of a data source: search, isolation findings, deletion of schemas and data sources.
  PRIMARY KEY (workspace_id, environment, schema_key, data_source_key, team_id, bucket)
);

CREATE TABLE accepted_finding (
  workspace_id    bigint NOT NULL REFERENCES workspace (workspace_id),
  environment     text   NOT NULL COLLATE "C" CHECK (environment IN ('Customer', 'Testing')),
  kind            text   NOT NULL COLLATE "C",
  schema_key      text   NOT NULL COLLATE "C",
  data_source_key text   NOT NULL COLLATE "C",
  version         text   NOT NULL,
  reason          text   NOT NULL,
  accepted_at     bigint NOT NULL,
  accepted_by     text   NOT NULL,
  PRIMARY KEY (workspace_id, environment, kind, schema_key, data_source_key) -- isolation findings
);

CREATE TABLE signing_key (
  workspace_id   bigint NOT NULL REFERENCES workspace (workspace_id),
  environment    text   NOT NULL CHECK (environment IN ('Customer', 'Testing')),
  signing_key_id text   NOT NULL COLLATE "C",
  public_jwk     text   NOT NULL,
  token_key_id   text   NOT NULL,
  token_sealed   bytea  NOT NULL,
  created_at     bigint NOT NULL,
  signs_from     bigint NOT NULL,
  retired_at     bigint,
  PRIMARY KEY (workspace_id, environment, signing_key_id) -- creation and introspection of viewer sessions, the key set
);

CREATE TABLE ended_session (
  workspace_id bigint   NOT NULL,
  team_id      bigint   NOT NULL,
  bucket       smallint NOT NULL,
  subject      text     NOT NULL COLLATE "C",
  ended_at     bigint   NOT NULL,
  PRIMARY KEY (workspace_id, team_id, subject, bucket) -- introspection of a viewer session
);

-- Deletion of expired rows.
CREATE INDEX ended_session_by_expiry ON ended_session (ended_at);

CREATE TABLE console_session (
  session_hash bytea  NOT NULL PRIMARY KEY, -- each request of the console
  workspace_id bigint NOT NULL,
  environment  text   NOT NULL,
  api_token_id bigint REFERENCES api_token (api_token_id), -- NULL for a person
  person       text, -- id at the identity provider
  person_name  text,
  person_email text,
  role         text, -- scope of a person
  created_at   bigint NOT NULL,
  last_used_at bigint NOT NULL
);

-- Deletion of expired sessions.
CREATE INDEX console_session_by_use ON console_session (last_used_at);
-- Deletion of the oldest sessions of an API token.
CREATE INDEX console_session_by_api_token ON console_session (api_token_id, last_used_at);
-- Deletion of the oldest sessions of a person.
CREATE INDEX console_session_by_person ON console_session (person, last_used_at);

CREATE TABLE sign_in_link (
  link_hash    bytea  NOT NULL PRIMARY KEY,
  api_token_id bigint NOT NULL REFERENCES api_token (api_token_id),
  expires_at   bigint NOT NULL
);

CREATE TABLE job (
  job_id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id         bigint NOT NULL REFERENCES workspace (workspace_id),
  environment          text     NOT NULL COLLATE "C" CHECK (environment IN ('Customer', 'Testing')),
  action               text     NOT NULL,
  grace_period_seconds bigint NOT NULL,
  selection            text     NOT NULL,
  author               text     NOT NULL,
  api_token_id         bigint,
  total_count          bigint NOT NULL,
  is_total_exact       bigint NOT NULL,
  created_at           bigint NOT NULL,
  started_at           bigint,
  canceled_at          bigint,
  finished_at          bigint,
  planned              text     NOT NULL DEFAULT '[]',
  position             text,
  done                 bigint NOT NULL DEFAULT 0,
  unchanged            bigint NOT NULL DEFAULT 0,
  failed               bigint NOT NULL DEFAULT 0,
  holder               text,
  claimed_until        bigint NOT NULL DEFAULT 0
);

-- List of jobs, newest first.
CREATE INDEX job_by_environment ON job (workspace_id, environment, job_id);
-- Due jobs, number of unfinished jobs.
CREATE INDEX job_unfinished ON job (workspace_id, job_id) WHERE finished_at IS NULL;
-- Deletion after the retention.
CREATE INDEX job_by_end ON job (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE job_result (
  job_id        bigint NOT NULL,
  number        bigint NOT NULL,
  team_id       bigint NOT NULL,
  provided_id   text,
  outcome       text   NOT NULL COLLATE "C",
  error_code    text,
  error_message text,
  PRIMARY KEY (job_id, number) -- list of results
);

-- List of results with an outcome.
CREATE INDEX job_result_by_outcome ON job_result (job_id, outcome, number);

CREATE TABLE secret_key_check (
  key_id text  PRIMARY KEY COLLATE "C",
  sealed bytea NOT NULL
);

CREATE TABLE retired_secret_key (
  key_id text PRIMARY KEY COLLATE "C"
);

CREATE TABLE locator_key (
  key bytea PRIMARY KEY
);

INSERT INTO locator_key VALUES (uuid_send(gen_random_uuid()));

CREATE TABLE audit_event (
  workspace_id bigint   NOT NULL,
  team_id      bigint,
  bucket       smallint NOT NULL, -- 0 for an event that concerns no user group
  environment  text     NOT NULL COLLATE "C",
  event_id     uuid     NOT NULL,
  action       text     NOT NULL,
  author       text     NOT NULL,
  request_id   text, -- and with a space before each, the address of the client and its User-Agent
  provided_id  text COLLATE "C",
  details      text,
  PRIMARY KEY (workspace_id, environment, event_id, bucket) -- the audit log, newest first
);

-- Audit log of a user group. Excludes creations, the most frequent event: they are found by the creation time of the user group.
CREATE INDEX audit_event_by_user_group ON audit_event (workspace_id, team_id, event_id)
WHERE team_id IS NOT NULL AND action <> 'user_group.created';

-- Events for the feed (decision 0032), written in the transaction of their change. Transactions commit in another order than that of
-- their ids. A reader therefore reads only events whose transaction is older than all running ones (EventStore). After a failover,
-- transaction ids may repeat. The timeline, which each promotion of a standby increases, comes first.
DO $$
BEGIN
  PERFORM pg_walfile_name(pg_current_wal_insert_lsn());
  CREATE FUNCTION current_timeline() RETURNS integer LANGUAGE sql VOLATILE AS
    $body$ SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer $body$;
EXCEPTION WHEN OTHERS THEN
  -- Databases whose storage survives a failover may have no timelines.
  CREATE FUNCTION current_timeline() RETURNS integer LANGUAGE sql IMMUTABLE AS $body$ SELECT 1 $body$;
END $$;

CREATE TABLE event (
  timeline       integer NOT NULL DEFAULT current_timeline(),
  transaction_id xid8    NOT NULL DEFAULT pg_current_xact_id(),
  number         bigint  NOT NULL GENERATED ALWAYS AS IDENTITY,
  workspace_id   bigint  NOT NULL,
  environment    text    NOT NULL COLLATE "C",
  event_id       uuid    NOT NULL,
  type           text    NOT NULL,
  team_id        bigint,
  provided_id    text COLLATE "C",
  revision       bigint,
  token_hash     bytea,
  PRIMARY KEY (timeline, transaction_id, number) -- the feed
);

-- The rest is the position of the last deleted event.
CREATE TABLE event_log (
  store_id       text    NOT NULL PRIMARY KEY,
  timeline       integer NOT NULL,
  transaction_id xid8    NOT NULL,
  number         bigint  NOT NULL
);

INSERT INTO event_log VALUES (left(gen_random_uuid()::text, 8), 0, '0', 0);

-- Webhooks (decision 0035). On Citus these tables stay empty, because events have no order there.
CREATE TABLE webhook_endpoint (
  webhook_endpoint_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id        bigint NOT NULL,
  environment         text   NOT NULL COLLATE "C" CHECK (environment IN ('Customer', 'Testing')),
  name                text   NOT NULL,
  url                 text   NOT NULL,
  event_types         text   NOT NULL,
  state               text   NOT NULL CHECK (state IN ('active', 'paused', 'disabled')),
  created_at          bigint NOT NULL,
  updated_at          bigint NOT NULL,
  last_success_at     bigint,
  failing_since       bigint
);

-- List of endpoints, and the endpoints of an event.
CREATE INDEX webhook_endpoint_by_environment ON webhook_endpoint (workspace_id, environment, webhook_endpoint_id);

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

-- Each transaction that changes endpoints or deliveries locks the row first, so that the queues below change one after the other.
CREATE TABLE webhook_leader (
  holder     text,
  expires_at bigint NOT NULL,
  position   text
);

INSERT INTO webhook_leader (expires_at) VALUES (0);

CREATE TABLE webhook_delivery (
  webhook_delivery_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_endpoint_id bigint NOT NULL,
  workspace_id        bigint NOT NULL,
  environment         text   NOT NULL COLLATE "C",
  event_id            uuid   NOT NULL,
  event_type          text   NOT NULL,
  team_id             bigint NOT NULL,
  body                text   NOT NULL,
  state               text   NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'failing', 'delivered')),
  attempts            bigint NOT NULL DEFAULT 0,
  first_attempt_at    bigint,
  last_attempt_at     bigint,
  next_attempt_at     bigint,
  response_status     bigint,
  duration_ms         bigint,
  error_code          text,
  signature           text,
  response_headers    text
);

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

-- Marks by which a process recognizes a primary that lacks acknowledged changes, and losses that an operator has accepted
-- (decision 0038).
CREATE TABLE process_mark (
  process_id uuid        NOT NULL PRIMARY KEY,
  mark       bigint      NOT NULL,
  marked_at  timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE TABLE accepted_timeline (
  accepted_at bigint NOT NULL PRIMARY KEY
);

-- The functions below apply decisions of the service (decisions.ts) to many user groups of one workspace and environment. They hold
-- no rules. Arrays have one element for each user group.
--
-- On Citus, all user groups of a call are in one shard, `_bucket` is a bucket of it, and Citus runs the call on the node that has the
-- shard. There, each statement needs a list of constant buckets to find its shard. Otherwise `_bucket` is null. One statement with
-- several data-modifying CTEs would do the same, but Citus runs it as a two-phase commit over all nodes. Its
-- workers have no table `event`, because each node has transaction ids of its own.

-- Creates user groups that do not exist, and returns the team ids of those that it created.
CREATE FUNCTION create_user_groups(
  _bucket smallint, _workspace_id bigint, _environment text,
  _buckets smallint[], _team_ids bigint[], _provided_ids text[], _names text[], _mappings text[], _properties text[],
  _token_hashes bytea[], _token_key_ids text[], _tokens_sealed bytea[], _times bigint[],
  _registry_versions text[], _entries text[],
  _event_ids uuid[], _actions text[], _authors text[], _request_ids text[], _details text[]
) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE
  created bigint[] := '{}';
  created_id bigint;
BEGIN
  -- Waits for a change of the registry that checks mappings (data-sources.ts) before the registry's version is read.
  IF _registry_versions IS NOT NULL THEN
    DELETE FROM mapping_entry WHERE false;
  END IF;
  -- Inserts in order of key, so that two calls never deadlock.
  FOR created_id IN
    INSERT INTO user_group (workspace_id, environment, bucket, team_id, provided_id, name, mapping, properties,
                            token_hash, token_key_id, token_sealed, token_issued_at, created_at, updated_at, updated_by)
    SELECT _workspace_id, _environment, new.bucket, new.team_id, new.provided_id, new.name, new.mapping, new.properties,
           new.token_hash, new.token_key_id, new.token_sealed, new.at, new.at, new.at, new.author
    FROM unnest(_buckets, _team_ids, _provided_ids, _names, _mappings, _properties,
                _token_hashes, _token_key_ids, _tokens_sealed, _times, _registry_versions, _authors)
      AS new (bucket, team_id, provided_id, name, mapping, properties,
              token_hash, token_key_id, token_sealed, at, registry_version, author)
    WHERE new.token_key_id <> ALL (SELECT key_id FROM retired_secret_key)
      AND (new.registry_version IS NULL OR new.registry_version = coalesce(
        (SELECT version FROM registry WHERE workspace_id = _workspace_id AND environment = _environment), ''
      ))
    ORDER BY new.provided_id COLLATE "C"
    ON CONFLICT (workspace_id, environment, provided_id, bucket) DO NOTHING
    RETURNING user_group.team_id
  LOOP
    created := created || created_id;
    RETURN NEXT created_id;
  END LOOP;
  IF created = '{}' THEN
    RETURN;
  END IF;
  INSERT INTO unindexed_user_group (workspace_id, environment, bucket, team_id, revision)
  SELECT _workspace_id, _environment, bucket, team_id, 1
  FROM unnest(_buckets, _team_ids) AS new (bucket, team_id) WHERE team_id = ANY (created);
  INSERT INTO mapping_entry (workspace_id, environment, bucket, schema_key, data_source_key, team_id)
  SELECT _workspace_id, _environment, new.bucket, entry.key, entry.value, new.team_id
  FROM unnest(_buckets, _team_ids, _entries) AS new (bucket, team_id, entries)
  CROSS JOIN LATERAL json_each_text(new.entries::json) AS entry
  WHERE new.team_id = ANY (created);
  INSERT INTO audit_event (workspace_id, environment, bucket, event_id, action, author, request_id, team_id, provided_id, details)
  SELECT _workspace_id, _environment, bucket, event_id, action, author, request_id, team_id, provided_id, details
  FROM unnest(_buckets, _team_ids, _provided_ids, _event_ids, _actions, _authors, _request_ids, _details)
    AS event (bucket, team_id, provided_id, event_id, action, author, request_id, details)
  WHERE team_id = ANY (created);
  IF to_regclass('event') IS NOT NULL THEN
    INSERT INTO event (workspace_id, environment, event_id, type, team_id, provided_id, revision)
    SELECT _workspace_id, _environment, event_id, action, team_id, provided_id, 1
    FROM unnest(_team_ids, _provided_ids, _event_ids, _actions) AS new (team_id, provided_id, event_id, action)
    WHERE team_id = ANY (created);
  END IF;
END $$;

-- Changes the user groups that are still at the revision that the decision was based on, and returns their team ids. The time of the
-- revision distinguishes two revisions with the same number, one of which a failover lost.
CREATE FUNCTION change_user_groups(
  _bucket smallint, _workspace_id bigint, _environment text,
  _buckets smallint[], _team_ids bigint[], _provided_ids text[], _old_revisions bigint[], _old_times bigint[],
  _sets_mapping boolean[], _sets_properties boolean[],
  _new_name text[], _new_mapping text[], _new_properties text[], _new_updated_at bigint[], _new_updated_by text[],
  _new_suspended_at bigint[],
  _version_updated_at bigint[], _version_updated_by text[], _version_name text[], _version_mapping text[], _version_properties text[],
  _dropped_revisions bigint[], _added text[], _removed text[], _ended_subjects text[], _ended_at bigint[], _registry_version text,
  _event_ids uuid[], _actions text[], _authors text[], _request_ids text[], _details text[]
) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE
  changed bigint[] := '{}';
  changed_id bigint;
BEGIN
  -- Waits for a change of the registry that checks mappings (data-sources.ts) before the registry's version is read.
  IF _registry_version IS NOT NULL THEN
    DELETE FROM mapping_entry WHERE false;
  END IF;
  IF _registry_version <> coalesce(
    (SELECT version FROM registry WHERE workspace_id = _workspace_id AND environment = _environment), ''
  ) THEN
    RETURN;
  END IF;
  -- The arrays are sorted by team id, so that two calls never deadlock.
  FOR changed_id IN
    UPDATE user_group
    SET name = new.name,
        mapping = CASE WHEN new.sets_mapping THEN new.mapping ELSE user_group.mapping END,
        properties = CASE WHEN new.sets_properties THEN new.properties ELSE user_group.properties END,
        updated_at = new.updated_at, updated_by = new.updated_by, suspended_at = new.suspended_at,
        revision = user_group.revision + 1
    FROM unnest(_buckets, _team_ids, _old_revisions, _old_times, _sets_mapping, _sets_properties,
                _new_name, _new_mapping, _new_properties, _new_updated_at, _new_updated_by, _new_suspended_at)
      AS new (bucket, team_id, old_revision, old_time, sets_mapping, sets_properties,
              name, mapping, properties, updated_at, updated_by, suspended_at)
    WHERE user_group.workspace_id = _workspace_id AND user_group.team_id = new.team_id
      AND user_group.bucket = new.bucket AND (_bucket IS NULL OR user_group.bucket = ANY (_buckets))
      AND user_group.revision = new.old_revision AND user_group.updated_at = new.old_time
    RETURNING user_group.team_id
  LOOP
    changed := changed || changed_id;
    RETURN NEXT changed_id;
  END LOOP;
  IF changed = '{}' THEN
    RETURN;
  END IF;
  INSERT INTO user_group_version (workspace_id, bucket, team_id, revision, updated_at, updated_by, name, mapping, properties)
  SELECT _workspace_id, bucket, team_id, revision, updated_at, updated_by, name, mapping, properties
  FROM unnest(_buckets, _team_ids, _old_revisions, _version_updated_at, _version_updated_by, _version_name, _version_mapping,
              _version_properties)
    AS version (bucket, team_id, revision, updated_at, updated_by, name, mapping, properties)
  WHERE name IS NOT NULL AND team_id = ANY (changed);
  INSERT INTO unindexed_user_group (workspace_id, environment, bucket, team_id, revision, removed_name)
  SELECT _workspace_id, _environment, bucket, team_id, old_revision + 1, old_name
  FROM unnest(_buckets, _team_ids, _old_revisions, _new_name, _version_name) AS new (bucket, team_id, old_revision, name, old_name)
  WHERE name <> old_name AND team_id = ANY (changed)
  ON CONFLICT DO NOTHING;
  IF _dropped_revisions IS NOT NULL THEN
    DELETE FROM user_group_version USING unnest(_buckets, _team_ids, _dropped_revisions) AS dropped (bucket, team_id, revision)
    WHERE user_group_version.workspace_id = _workspace_id AND user_group_version.team_id = dropped.team_id
      AND user_group_version.bucket = dropped.bucket AND (_bucket IS NULL OR user_group_version.bucket = ANY (_buckets))
      AND user_group_version.revision <= dropped.revision AND dropped.team_id = ANY (changed);
  END IF;
  IF _removed IS NOT NULL THEN
    -- With a constant workspace and environment and without statistics, PostgreSQL would read all of mapping_entry.
    WITH entry AS MATERIALIZED (
      SELECT _workspace_id AS workspace_id, _environment AS environment, old.bucket, old.team_id, key, value
      FROM unnest(_buckets, _team_ids, _removed) AS old (bucket, team_id, entries)
      CROSS JOIN LATERAL json_each_text(old.entries::json)
      WHERE old.team_id = ANY (changed)
    )
    DELETE FROM mapping_entry USING entry
    WHERE mapping_entry.workspace_id = entry.workspace_id AND mapping_entry.environment = entry.environment
      AND schema_key = entry.key AND data_source_key = entry.value AND mapping_entry.team_id = entry.team_id
      AND mapping_entry.bucket = entry.bucket AND (_bucket IS NULL OR mapping_entry.bucket = ANY (_buckets));
  END IF;
  IF _added IS NOT NULL THEN
    INSERT INTO mapping_entry (workspace_id, environment, bucket, schema_key, data_source_key, team_id)
    SELECT _workspace_id, _environment, new.bucket, entry.key, entry.value, new.team_id
    FROM unnest(_buckets, _team_ids, _added) AS new (bucket, team_id, entries)
    CROSS JOIN LATERAL json_each_text(new.entries::json) AS entry
    WHERE new.team_id = ANY (changed)
    ON CONFLICT DO NOTHING;
  END IF;
  IF _ended_subjects IS NOT NULL THEN
    INSERT INTO ended_session (workspace_id, bucket, team_id, subject, ended_at)
    SELECT _workspace_id, bucket, team_id, subject, ended_at
    FROM unnest(_buckets, _team_ids, _ended_subjects, _ended_at) AS new (bucket, team_id, subject, ended_at)
    WHERE subject IS NOT NULL AND team_id = ANY (changed)
    ON CONFLICT (workspace_id, team_id, subject, bucket)
      DO UPDATE SET ended_at = greatest(ended_session.ended_at, excluded.ended_at);
  END IF;
  INSERT INTO audit_event (workspace_id, environment, bucket, event_id, action, author, request_id, team_id, provided_id, details)
  SELECT _workspace_id, _environment, bucket, event_id, action, author, request_id, team_id, provided_id, details
  FROM unnest(_buckets, _team_ids, _provided_ids, _event_ids, _actions, _authors, _request_ids, _details)
    AS event (bucket, team_id, provided_id, event_id, action, author, request_id, details)
  WHERE team_id = ANY (changed);
  IF to_regclass('event') IS NOT NULL THEN
    INSERT INTO event (workspace_id, environment, event_id, type, team_id, provided_id, revision)
    SELECT _workspace_id, _environment, event_id, action, team_id, provided_id, old_revision + 1
    FROM unnest(_team_ids, _provided_ids, _old_revisions, _event_ids, _actions)
      AS new (team_id, provided_id, old_revision, event_id, action)
    WHERE team_id = ANY (changed);
  END IF;
END $$;

-- Replaces the tokens that are still current, and returns the team ids. A user group whose name has changed since the decision is left
-- out, because the response contains it. Idempotency keys belong to one user group, whose token changes in the same transaction, so a
-- record that exists here has expired.
CREATE FUNCTION replace_user_group_tokens(
  _bucket smallint, _workspace_id bigint, _environment text,
  _buckets smallint[], _team_ids bigint[], _provided_ids text[], _names text[], _old_hashes bytea[], _old_issue_times bigint[],
  _old_valid_until bigint[], _expected_revisions bigint[],
  _token_hashes bytea[], _token_key_ids text[], _tokens_sealed bytea[], _times bigint[],
  _key_hashes bytea[], _fingerprints bytea[], _key_expiry_times bigint[],
  _event_ids uuid[], _actions text[], _authors text[], _request_ids text[], _details text[]
) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE
  replaced bigint[] := '{}';
  revisions bigint[] := '{}';
  replaced_id bigint;
  new_revision bigint;
BEGIN
  -- The arrays are sorted by team id, so that two calls never deadlock.
  FOR replaced_id, new_revision IN
    UPDATE user_group
    SET token_hash = new.token_hash, token_key_id = new.token_key_id, token_sealed = new.token_sealed,
        token_issued_at = new.at, revision = user_group.revision + 1
    FROM unnest(_buckets, _team_ids, _names, _old_hashes, _expected_revisions, _token_hashes, _token_key_ids, _tokens_sealed, _times)
      AS new (bucket, team_id, name, old_hash, expected_revision, token_hash, token_key_id, token_sealed, at)
    WHERE user_group.workspace_id = _workspace_id AND user_group.team_id = new.team_id
      AND user_group.bucket = new.bucket AND (_bucket IS NULL OR user_group.bucket = ANY (_buckets))
      AND user_group.token_hash = new.old_hash AND user_group.name = new.name
      AND coalesce(new.expected_revision, user_group.revision) = user_group.revision
      AND new.token_key_id <> ALL (SELECT key_id FROM retired_secret_key)
    RETURNING user_group.team_id, user_group.revision
  LOOP
    replaced := replaced || replaced_id;
    revisions := revisions || new_revision;
    RETURN NEXT replaced_id;
  END LOOP;
  IF replaced = '{}' THEN
    RETURN;
  END IF;
  INSERT INTO superseded_token (workspace_id, bucket, team_id, token_hash, issued_at, superseded_at, valid_until)
  SELECT _workspace_id, bucket, team_id, token_hash, issued_at, superseded_at, valid_until
  FROM unnest(_buckets, _team_ids, _old_hashes, _old_issue_times, _times, _old_valid_until)
    AS old (bucket, team_id, token_hash, issued_at, superseded_at, valid_until)
  WHERE team_id = ANY (replaced);
  IF _key_hashes IS NOT NULL THEN
    INSERT INTO idempotency_key (workspace_id, environment, bucket, team_id, key_hash, fingerprint, provided_id, name,
                                 token_key_id, token_sealed, expires_at)
    SELECT _workspace_id, _environment, bucket, team_id, key_hash, fingerprint, provided_id, name,
           token_key_id, token_sealed, expires_at
    FROM unnest(_buckets, _team_ids, _provided_ids, _names, _key_hashes, _fingerprints, _key_expiry_times, _token_key_ids,
                _tokens_sealed)
      AS new (bucket, team_id, provided_id, name, key_hash, fingerprint, expires_at, token_key_id, token_sealed)
    WHERE key_hash IS NOT NULL AND team_id = ANY (replaced)
    ON CONFLICT (workspace_id, team_id, key_hash, bucket) DO UPDATE
    SET fingerprint = excluded.fingerprint, name = excluded.name, token_key_id = excluded.token_key_id,
        token_sealed = excluded.token_sealed, expires_at = excluded.expires_at;
  END IF;
  INSERT INTO audit_event (workspace_id, environment, bucket, event_id, action, author, request_id, team_id, provided_id, details)
  SELECT _workspace_id, _environment, bucket, event_id, action, author, request_id, team_id, provided_id, details
  FROM unnest(_buckets, _team_ids, _provided_ids, _event_ids, _actions, _authors, _request_ids, _details)
    AS event (bucket, team_id, provided_id, event_id, action, author, request_id, details)
  WHERE team_id = ANY (replaced);
  IF to_regclass('event') IS NOT NULL THEN
    INSERT INTO event (workspace_id, environment, event_id, type, team_id, provided_id, revision, token_hash)
    SELECT _workspace_id, _environment, event_id, action, team_id, provided_id, revision, old_hash
    FROM unnest(_team_ids, _provided_ids, _old_hashes, _event_ids, _actions) AS new (team_id, provided_id, old_hash, event_id, action)
    JOIN unnest(replaced, revisions) AS done (team_id, revision) USING (team_id);
  END IF;
END $$;

-- Ends the grace period of a superseded token, if it has not ended, and returns whether it did.
CREATE FUNCTION end_grace_period(
  _bucket smallint, _workspace_id bigint, _environment text, _team_id bigint, _token_hash bytea, _time bigint,
  _provided_id text, _event_id uuid, _action text, _author text, _request_id text, _details text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE superseded_token SET valid_until = _time
  WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id AND token_hash = _token_hash
    AND valid_until > _time;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO audit_event (workspace_id, environment, bucket, event_id, action, author, request_id, team_id, provided_id, details)
  VALUES (_workspace_id, _environment, _bucket, _event_id, _action, _author, _request_id, _team_id, _provided_id, _details);
  IF to_regclass('event') IS NOT NULL THEN
    INSERT INTO event (workspace_id, environment, event_id, type, team_id, provided_id, revision, token_hash)
    SELECT _workspace_id, _environment, _event_id, _action, _team_id, _provided_id, revision, _token_hash
    FROM user_group WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id;
  END IF;
  RETURN true;
END $$;

-- Moves a user group at this revision to the deleted ones, without its superseded tokens and idempotency keys, and returns whether it
-- did.
CREATE FUNCTION delete_user_group(
  _bucket smallint, _workspace_id bigint, _environment text, _team_id bigint, _revision bigint, _updated_at bigint,
  _deleted_at bigint, _entries text, _provided_id text, _event_id uuid, _action text, _author text, _request_id text, _details text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM user_group
  WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id
    AND revision = _revision AND updated_at = _updated_at
  FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO deleted_user_group (workspace_id, environment, bucket, team_id, provided_id, name, mapping, properties, token_issued_at,
                                  created_at, updated_at, revision, updated_by, suspended_at, token_hash, token_key_id, token_sealed,
                                  deleted_at, deleted_by)
  SELECT workspace_id, environment, bucket, team_id, provided_id, name, mapping, properties, token_issued_at,
         created_at, updated_at, revision, updated_by, suspended_at, token_hash, token_key_id, token_sealed,
         _deleted_at, _author
  FROM user_group WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id;
  WITH entry AS MATERIALIZED (
    SELECT _workspace_id AS workspace_id, _environment AS environment, _team_id AS team_id, key, value
    FROM json_each_text(_entries::json)
  )
  DELETE FROM mapping_entry USING entry
  WHERE mapping_entry.workspace_id = entry.workspace_id AND mapping_entry.environment = entry.environment
    AND schema_key = entry.key AND data_source_key = entry.value AND mapping_entry.team_id = entry.team_id
    AND mapping_entry.bucket = _bucket;
  DELETE FROM superseded_token WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id;
  DELETE FROM idempotency_key WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id;
  DELETE FROM user_group WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id;
  INSERT INTO unindexed_user_group (workspace_id, environment, bucket, team_id, revision, removed_id, removed_name)
  SELECT workspace_id, environment, bucket, team_id, -revision, provided_id, name
  FROM deleted_user_group WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id
  ON CONFLICT DO NOTHING;
  INSERT INTO audit_event (workspace_id, environment, bucket, event_id, action, author, request_id, team_id, provided_id, details)
  VALUES (_workspace_id, _environment, _bucket, _event_id, _action, _author, _request_id, _team_id, _provided_id, _details);
  IF to_regclass('event') IS NOT NULL THEN
    INSERT INTO event (workspace_id, environment, event_id, type, team_id, provided_id, revision)
    VALUES (_workspace_id, _environment, _event_id, _action, _team_id, _provided_id, _revision);
  END IF;
  RETURN true;
END $$;

-- Moves a deleted user group back, as a new revision, and returns whether it did.
CREATE FUNCTION restore_user_group(
  _bucket smallint, _workspace_id bigint, _environment text, _team_id bigint, _deleted_at bigint,
  _entries text, _provided_id text, _event_id uuid, _action text, _author text, _request_id text, _details text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM deleted_user_group
  WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id AND deleted_at = _deleted_at FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO user_group (workspace_id, environment, bucket, team_id, provided_id, name, mapping, properties, token_issued_at,
                          created_at, updated_at, revision, updated_by, suspended_at, token_hash, token_key_id, token_sealed)
  SELECT workspace_id, environment, bucket, team_id, provided_id, name, mapping, properties, token_issued_at,
         created_at, updated_at, revision + 1, updated_by, suspended_at, token_hash, token_key_id, token_sealed
  FROM deleted_user_group WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id;
  INSERT INTO unindexed_user_group (workspace_id, environment, bucket, team_id, revision)
  SELECT _workspace_id, _environment, _bucket, _team_id, revision
  FROM user_group WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id
  ON CONFLICT DO NOTHING;
  INSERT INTO mapping_entry (workspace_id, environment, bucket, schema_key, data_source_key, team_id)
  SELECT _workspace_id, _environment, _bucket, entry.key, entry.value, _team_id FROM json_each_text(_entries::json) AS entry
  ON CONFLICT DO NOTHING;
  DELETE FROM deleted_user_group WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id;
  INSERT INTO audit_event (workspace_id, environment, bucket, event_id, action, author, request_id, team_id, provided_id, details)
  VALUES (_workspace_id, _environment, _bucket, _event_id, _action, _author, _request_id, _team_id, _provided_id, _details);
  IF to_regclass('event') IS NOT NULL THEN
    INSERT INTO event (workspace_id, environment, event_id, type, team_id, provided_id, revision)
    SELECT _workspace_id, _environment, _event_id, _action, _team_id, _provided_id, revision
    FROM user_group WHERE workspace_id = _workspace_id AND bucket = _bucket AND team_id = _team_id;
  END IF;
  RETURN true;
END $$;
