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

SELECT grant_like_user_group('process_mark', 'accepted_timeline');
