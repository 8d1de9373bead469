-- The sessions of the web console. Only the SHA-256 of a session's secret is stored.
CREATE TABLE console_session (
  session_hash bytea  NOT NULL PRIMARY KEY,
  api_token_id bigint NOT NULL REFERENCES api_token (api_token_id),
  created_at   bigint NOT NULL,
  last_used_at bigint NOT NULL
);

CREATE INDEX console_session_by_use ON console_session (last_used_at);
