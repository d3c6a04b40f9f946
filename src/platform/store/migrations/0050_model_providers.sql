-- Providers of models that organizations bring themselves. `settings`: format, address and models; `secret`: the sealed key.
CREATE TABLE model_providers (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name text NOT NULL,
  settings jsonb NOT NULL,
  secret jsonb,
  probe jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (organization_id, name)
);
CREATE INDEX model_providers_newest ON model_providers (organization_id, id DESC);
