-- The audit log: one row per change, written in the same transaction. The id is a version 7 UUID (RFC 9562), which contains the
-- time, so that the primary key sorts by time.
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

-- Excludes creations, the most frequent event: they are found by the creation time of the user group.
CREATE INDEX audit_event_by_user_group ON audit_event (workspace_id, team_id, event_id)
WHERE team_id IS NOT NULL AND action <> 'user_group.created';
