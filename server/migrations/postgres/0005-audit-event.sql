-- The audit log: one row per change, written in the same transaction. The id is a version 7 UUID (RFC 9562), which contains the
-- time, so that the primary key sorts by time.
CREATE TABLE audit_event (
  workspace_id bigint NOT NULL,
  environment  text   NOT NULL COLLATE "C",
  event_id     uuid   NOT NULL,
  action       text   NOT NULL,
  author       text   NOT NULL,
  request_id   text,
  team_id      bigint,
  provided_id  text COLLATE "C",
  details      text,
  PRIMARY KEY (workspace_id, environment, event_id)
);

-- Excludes creations, the most frequent event: they are found by the creation time of the user group.
CREATE INDEX audit_event_by_user_group ON audit_event (workspace_id, team_id, event_id)
WHERE team_id IS NOT NULL AND action <> 'user_group.created';
