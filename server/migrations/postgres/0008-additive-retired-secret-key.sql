-- A secret key that seals nothing more: what is sealed with it is refused where it is written.
CREATE TABLE retired_secret_key (
  key_id text PRIMARY KEY COLLATE "C"
);
