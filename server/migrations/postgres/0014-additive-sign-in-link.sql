-- One-time links that sign in to the web console (decision 0036). Only the SHA-256 of a link's secret is stored.
CREATE TABLE sign_in_link (
  link_hash    bytea  NOT NULL PRIMARY KEY,
  api_token_id bigint NOT NULL REFERENCES api_token (api_token_id),
  expires_at   bigint NOT NULL
);

SELECT grant_like_user_group('sign_in_link');
