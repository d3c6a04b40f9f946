-- Which organization owns a file or batch at a provider. All organizations share the provider's key.
CREATE TABLE gateway_objects (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('file', 'batch', 'message_batch')),
  id text NOT NULL,
  provider text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, kind, id)
);
CREATE INDEX gateway_objects_newest ON gateway_objects (organization_id, kind, created_at DESC, id);
