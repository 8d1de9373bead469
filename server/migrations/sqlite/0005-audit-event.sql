-- What was changed, when, and by whom: one row for each change, written with it. The time is in the id, a UUID of
-- version 7 (RFC 9562), so that the key is in the order of time.
CREATE TABLE audit_event (
  workspace_id INTEGER NOT NULL,
  environment  TEXT    NOT NULL,
  event_id     TEXT    NOT NULL,
  action       TEXT    NOT NULL,
  author       TEXT    NOT NULL,
  request_id   TEXT,
  team_id      INTEGER,
  provided_id  TEXT,
  details      TEXT,
  PRIMARY KEY (workspace_id, environment, event_id)
) STRICT, WITHOUT ROWID;

-- The creation of a user group, which most events are, is found by the time when it was created.
CREATE INDEX audit_event_by_user_group ON audit_event (workspace_id, team_id, event_id)
WHERE team_id IS NOT NULL AND action <> 'user_group.created';
