-- Every row of a user group gets the bucket of its user group: a number from 0 to 1023, by which large tables can be partitioned and
-- distributed. Columns stay nullable and the earlier keys stay until 0011, so that the previous release works on these tables.
-- Between this file and 0010, `migrate` fills the columns of existing rows and creates the new keys (bucket-backfill.ts).

-- The same as `bucketOf` in the service: ten bits of a SHA-256.
CREATE FUNCTION user_group_bucket(workspace_id bigint, environment text, provided_id text) RETURNS smallint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (get_byte(digest, 0) % 4 * 256 + get_byte(digest, 1))::smallint
  FROM sha256(convert_to(workspace_id || '/' || environment || '/' || provided_id, 'UTF8')) AS digest
$$;

ALTER TABLE user_group ADD COLUMN bucket smallint;
ALTER TABLE superseded_token ADD COLUMN bucket smallint;
ALTER TABLE mapping_entry ADD COLUMN bucket smallint;
ALTER TABLE user_group_version ADD COLUMN bucket smallint;
ALTER TABLE deleted_user_group ADD COLUMN bucket smallint;
ALTER TABLE last_introspection ADD COLUMN bucket smallint;
ALTER TABLE idempotency_key ADD COLUMN bucket smallint;
ALTER TABLE audit_event ADD COLUMN bucket smallint;

-- The service draws team ids in blocks and inserts them. The default serves the previous release.
DO $$
DECLARE
  next_id bigint;
BEGIN
  LOCK TABLE user_group IN ACCESS EXCLUSIVE MODE;
  SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END INTO next_id FROM user_group_team_id_seq;
  ALTER TABLE user_group ALTER COLUMN team_id DROP IDENTITY;
  EXECUTE format('CREATE SEQUENCE user_group_team_id_seq MAXVALUE 9007199254740991 START %s', next_id);
END $$;
ALTER TABLE user_group ALTER COLUMN team_id SET DEFAULT nextval('user_group_team_id_seq');

-- The key of the locators in user group tokens. It protects no secret.
CREATE TABLE locator_key (key bytea PRIMARY KEY);
INSERT INTO locator_key VALUES (uuid_send(gen_random_uuid()));

-- Tokens that were issued before tokens had locators. A new store does not have this table.
CREATE TABLE legacy_token (
  token_hash bytea    PRIMARY KEY,
  team_id    bigint   NOT NULL,
  bucket     smallint NOT NULL
);

-- Rows that the previous release writes have no bucket.
CREATE FUNCTION fill_bucket() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.bucket IS NOT NULL THEN
    RETURN new;
  END IF;
  IF tg_table_name = 'audit_event' AND new.provided_id IS NULL THEN
    new.bucket := 0;
  ELSIF tg_table_name IN ('user_group', 'deleted_user_group', 'idempotency_key', 'audit_event') THEN
    new.bucket := user_group_bucket(new.workspace_id, new.environment, new.provided_id);
  ELSE
    new.bucket := coalesce(
      (SELECT user_group_bucket(workspace_id, environment, provided_id) FROM user_group
       WHERE workspace_id = new.workspace_id AND team_id = new.team_id),
      (SELECT user_group_bucket(workspace_id, environment, provided_id) FROM deleted_user_group
       WHERE workspace_id = new.workspace_id AND team_id = new.team_id),
      0
    );
  END IF;
  RETURN new;
END $$;

CREATE TRIGGER fill_bucket BEFORE INSERT ON user_group FOR EACH ROW EXECUTE FUNCTION fill_bucket();
CREATE TRIGGER fill_bucket BEFORE INSERT ON superseded_token FOR EACH ROW EXECUTE FUNCTION fill_bucket();
CREATE TRIGGER fill_bucket BEFORE INSERT ON mapping_entry FOR EACH ROW EXECUTE FUNCTION fill_bucket();
CREATE TRIGGER fill_bucket BEFORE INSERT ON user_group_version FOR EACH ROW EXECUTE FUNCTION fill_bucket();
CREATE TRIGGER fill_bucket BEFORE INSERT ON deleted_user_group FOR EACH ROW EXECUTE FUNCTION fill_bucket();
CREATE TRIGGER fill_bucket BEFORE INSERT ON last_introspection FOR EACH ROW EXECUTE FUNCTION fill_bucket();
CREATE TRIGGER fill_bucket BEFORE INSERT ON idempotency_key FOR EACH ROW EXECUTE FUNCTION fill_bucket();
CREATE TRIGGER fill_bucket BEFORE INSERT ON audit_event FOR EACH ROW EXECUTE FUNCTION fill_bucket();

-- Tokens of the previous release have no locator. This trigger also records those of this release, which does no harm.
CREATE FUNCTION note_legacy_token() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO legacy_token (token_hash, team_id, bucket)
  VALUES (new.token_hash, new.team_id, user_group_bucket(new.workspace_id, new.environment, new.provided_id))
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER note_legacy_token AFTER INSERT OR UPDATE OF token_hash ON user_group
FOR EACH ROW EXECUTE FUNCTION note_legacy_token();

-- The service's role may use what it could use before: inserts drew ids from an identity column.
DO $$
DECLARE
  grantee text;
BEGIN
  FOR grantee IN
    SELECT DISTINCT CASE acl.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(acl.grantee)) END
    FROM pg_class CROSS JOIN LATERAL aclexplode(relacl) AS acl
    WHERE pg_class.oid = 'user_group'::regclass AND acl.privilege_type = 'INSERT' AND acl.grantee <> relowner
  LOOP
    EXECUTE format('GRANT USAGE ON SEQUENCE user_group_team_id_seq TO %s', grantee);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON locator_key, legacy_token TO %s', grantee);
  END LOOP;
END $$;
