-- Events for the feed (decision 0032). Transactions write one after the other, so the row ids are the order of the commits. The newest event is never deleted, so that SQLite does not repeat its id.
CREATE TABLE event (
  position     INTEGER PRIMARY KEY,
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

-- A trigger, so that changes by a running process of the previous release are events too. The service adds the hash of the only token
-- that is concerned. For IN, SQLite would build an index at each insertion.
CREATE TRIGGER audit_event_insert_event AFTER INSERT ON audit_event
WHEN new.action = 'user_group.created' OR new.action = 'user_group.updated' OR new.action = 'user_group.token_rotated'
  OR new.action = 'user_group.grace_period_ended' OR new.action = 'user_group.suspended' OR new.action = 'user_group.resumed'
  OR new.action = 'user_group.deleted' OR new.action = 'user_group.restored' OR new.action = 'schema.created'
  OR new.action = 'schema.deleted' OR new.action = 'data_source.created' OR new.action = 'data_source.deleted'
  OR new.action = 'api_token.revoked'
BEGIN
  INSERT INTO event (workspace_id, environment, event_id, type, team_id, provided_id, revision)
  VALUES (new.workspace_id, new.environment, new.event_id, new.action, new.team_id, new.provided_id,
          coalesce((SELECT revision FROM user_group WHERE team_id = new.team_id),
                   (SELECT revision FROM deleted_user_group WHERE workspace_id = new.workspace_id AND team_id = new.team_id)));
END;
