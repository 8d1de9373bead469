-- Events for the feed (decision 0032), written in the transaction of their change. Transactions write one after the other, so the
-- row ids are the order of the commits. The newest event is never deleted, so that SQLite does not repeat its id.
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
