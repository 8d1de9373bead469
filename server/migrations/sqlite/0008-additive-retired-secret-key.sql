-- Retired secret keys. The store refuses to write a token that was encrypted with one of them.
CREATE TABLE retired_secret_key (
  key_id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
