-- One-time links that sign in to the web console (decision 0036). Only the SHA-256 of a link's secret is stored.
CREATE TABLE sign_in_link (
  link_hash    BLOB    NOT NULL PRIMARY KEY,
  api_token_id INTEGER NOT NULL REFERENCES api_token (api_token_id),
  expires_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
