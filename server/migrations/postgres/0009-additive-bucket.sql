-- Every row of a user group gets the bucket of its user group: a number from 0 to 1023, by which large tables can be partitioned and
-- distributed. Columns stay nullable and the earlier keys stay until 0011, so that the previous release works on these tables.
-- Between this file and 0010, `migrate` fills the columns of existing rows and creates the new keys (bucket-backfill.ts).

-- The same as `bucketOf` in the service: ten bits of a SHA-256.
CREATE FUNCTION user_group_bucket(workspace_id bigint, environment text, provided_id text) RETURNS smallint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (get_byte(digest, 0) % 4 * 256 + get_byte(digest, 1))::smallint
  FROM sha256(convert_to(workspace_id || '/' || environment || '/' || provided_id, 'UTF8')) AS digest
$$;

-- All locks at once, within half a second in total. Otherwise `migrate` retries, so that requests do not queue behind it.
SET LOCAL statement_timeout = '500ms';
LOCK TABLE user_group, superseded_token, mapping_entry, user_group_version, deleted_user_group, last_introspection,
  idempotency_key, audit_event IN ACCESS EXCLUSIVE MODE;
SET LOCAL statement_timeout = 0;

ALTER TABLE user_group ADD COLUMN bucket smallint;
ALTER TABLE superseded_token ADD COLUMN bucket smallint;
ALTER TABLE mapping_entry ADD COLUMN bucket smallint;
ALTER TABLE user_group_version ADD COLUMN bucket smallint;
ALTER TABLE deleted_user_group ADD COLUMN bucket smallint;
ALTER TABLE last_introspection ADD COLUMN bucket smallint;
ALTER TABLE idempotency_key ADD COLUMN bucket smallint;
ALTER TABLE audit_event ADD COLUMN bucket smallint;

-- The service draws team ids in blocks and inserts them. The default serves the previous release. Roles keep their rights on the
-- sequence. Roles that insert user groups get the right to draw ids, which an identity column did not need.
DO $$
DECLARE
  next_id bigint;
  grants text[] := ARRAY(
    SELECT format('GRANT %s ON SEQUENCE user_group_team_id_seq TO %s', privilege,
                  CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
    FROM (
      SELECT grantee, privilege_type AS privilege FROM pg_class CROSS JOIN LATERAL aclexplode(relacl) AS acl
      WHERE oid = 'user_group_team_id_seq'::regclass AND grantee <> relowner
      UNION
      SELECT grantee, 'USAGE' FROM pg_class CROSS JOIN LATERAL aclexplode(relacl) AS acl
      WHERE oid = 'user_group'::regclass AND privilege_type = 'INSERT' AND grantee <> relowner
    ) AS permission
  );
  statement text;
BEGIN
  SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END INTO next_id FROM user_group_team_id_seq;
  ALTER TABLE user_group ALTER COLUMN team_id DROP IDENTITY;
  EXECUTE format('CREATE SEQUENCE user_group_team_id_seq MAXVALUE 9007199254740991 START %s', next_id);
  FOREACH statement IN ARRAY grants LOOP
    EXECUTE statement;
  END LOOP;
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

-- The new tables have the permissions of user_group.
DO $$
DECLARE
  permission record;
BEGIN
  FOR permission IN
    SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS grantee, privilege_type
    FROM pg_class CROSS JOIN LATERAL aclexplode(relacl) AS acl
    WHERE oid = 'user_group'::regclass AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE') AND grantee <> relowner
  LOOP
    EXECUTE format('GRANT %s ON locator_key, legacy_token TO %s', permission.privilege_type, permission.grantee);
  END LOOP;
END $$;

-- Sets the bucket of a row that the previous release inserts. An audit event may concern no user group.
CREATE FUNCTION fill_bucket() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  new.bucket := coalesce(new.bucket, user_group_bucket(new.workspace_id, new.environment, new.provided_id), 0);
  RETURN new;
END $$;

-- The same for tables without user_group_id.
CREATE FUNCTION look_up_bucket() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  new.bucket := coalesce(
    new.bucket,
    (SELECT user_group_bucket(workspace_id, environment, provided_id) FROM user_group
     WHERE workspace_id = new.workspace_id AND team_id = new.team_id),
    (SELECT user_group_bucket(workspace_id, environment, provided_id) FROM deleted_user_group
     WHERE workspace_id = new.workspace_id AND team_id = new.team_id),
    0
  );
  RETURN new;
END $$;

CREATE TRIGGER fill_bucket BEFORE INSERT ON user_group FOR EACH ROW EXECUTE FUNCTION fill_bucket();
CREATE TRIGGER fill_bucket BEFORE INSERT ON deleted_user_group FOR EACH ROW EXECUTE FUNCTION fill_bucket();
CREATE TRIGGER fill_bucket BEFORE INSERT ON idempotency_key FOR EACH ROW EXECUTE FUNCTION fill_bucket();
CREATE TRIGGER fill_bucket BEFORE INSERT ON audit_event FOR EACH ROW EXECUTE FUNCTION fill_bucket();
CREATE TRIGGER look_up_bucket BEFORE INSERT ON superseded_token FOR EACH ROW EXECUTE FUNCTION look_up_bucket();
CREATE TRIGGER look_up_bucket BEFORE INSERT ON mapping_entry FOR EACH ROW EXECUTE FUNCTION look_up_bucket();
CREATE TRIGGER look_up_bucket BEFORE INSERT ON user_group_version FOR EACH ROW EXECUTE FUNCTION look_up_bucket();
CREATE TRIGGER look_up_bucket BEFORE INSERT ON last_introspection FOR EACH ROW EXECUTE FUNCTION look_up_bucket();

-- An idempotency key belongs to a user group, but to an environment in the previous release and in its key of the table. If two user
-- groups use the same key before 0011, the later rotation replaces the record of the earlier one.
CREATE FUNCTION share_idempotency_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF tg_op = 'UPDATE' THEN
    -- The previous release gives an expired record to another user group.
    new.bucket := user_group_bucket(new.workspace_id, new.environment, new.provided_id);
  ELSIF new.bucket IS NOT NULL THEN
    DELETE FROM idempotency_key
    WHERE workspace_id = new.workspace_id AND environment = new.environment AND key_hash = new.key_hash
      AND team_id <> new.team_id;
  END IF;
  RETURN new;
END $$;

-- Named to run before fill_bucket: a row with a bucket comes from this release.
CREATE TRIGGER a_share_idempotency_key BEFORE INSERT OR UPDATE OF provided_id ON idempotency_key
FOR EACH ROW EXECUTE FUNCTION share_idempotency_key();

-- Records tokens without a locator. Until the contract, this release issues such tokens too, because the previous release accepts no
-- others. Encrypted, they have 79 bytes at most, and tokens with a locator 90 at least.
CREATE FUNCTION note_legacy_token() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF octet_length(new.token_sealed) < 85 THEN
    INSERT INTO legacy_token (token_hash, team_id, bucket)
    VALUES (new.token_hash, new.team_id, user_group_bucket(new.workspace_id, new.environment, new.provided_id))
    ON CONFLICT DO NOTHING;
  END IF;
  IF tg_op = 'UPDATE' AND octet_length(old.token_sealed) < 85 THEN
    INSERT INTO legacy_token (token_hash, team_id, bucket)
    VALUES (old.token_hash, old.team_id, user_group_bucket(old.workspace_id, old.environment, old.provided_id))
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER note_legacy_token AFTER INSERT OR UPDATE OF token_hash ON user_group
FOR EACH ROW EXECUTE FUNCTION note_legacy_token();
CREATE TRIGGER note_legacy_token AFTER INSERT ON deleted_user_group
FOR EACH ROW EXECUTE FUNCTION note_legacy_token();
