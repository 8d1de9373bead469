-- Who is signed in to the console. What is kept of a session is the SHA-256 of its secret.
CREATE TABLE console_session (
  session_hash bytea  NOT NULL PRIMARY KEY,
  api_token_id bigint NOT NULL REFERENCES api_token (api_token_id),
  created_at   bigint NOT NULL,
  last_used_at bigint NOT NULL
);

CREATE INDEX console_session_by_use ON console_session (last_used_at);
