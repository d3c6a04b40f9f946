-- The end of each organization's chain, and where it begins since retention deleted the records before.
CREATE TABLE audit_heads (
  organization_id text PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  sequence bigint NOT NULL,
  previous_hash text NOT NULL,
  hash text NOT NULL,
  first_sequence bigint NOT NULL DEFAULT 1,
  first_previous_hash text NOT NULL DEFAULT ''
);

-- Append-only. `entry` is the record as text, byte for byte what was hashed; the columns beside it are for filters.
-- hash = sha256(previous_hash || '.' || sequence || '.' || entry), hexadecimal.
CREATE TABLE audit_records (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  sequence bigint NOT NULL,
  id text NOT NULL UNIQUE,
  time timestamptz NOT NULL,
  actor_id text NOT NULL,
  action text NOT NULL,
  resource_type text,
  resource_id text,
  entry text NOT NULL,
  previous_hash text NOT NULL,
  hash text NOT NULL,
  PRIMARY KEY (organization_id, sequence)
);
CREATE INDEX audit_records_by_actor ON audit_records (organization_id, actor_id, sequence DESC);
CREATE INDEX audit_records_by_action ON audit_records (organization_id, action, sequence DESC);
CREATE INDEX audit_records_by_resource ON audit_records (organization_id, resource_id, sequence DESC);
CREATE INDEX audit_records_by_time ON audit_records (time);

CREATE FUNCTION forbid_audit_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit records are append-only';
END
$$;
CREATE TRIGGER audit_records_append_only BEFORE UPDATE ON audit_records
  FOR EACH ROW EXECUTE FUNCTION forbid_audit_update();
