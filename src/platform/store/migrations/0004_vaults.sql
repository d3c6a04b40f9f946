CREATE TABLE vaults (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  display_name text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  archived_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX vaults_by_organization ON vaults (organization_id, id DESC);

-- sealed: the secrets, under a data key of this row's own. data_key: that key, sealed by the master key named by
-- master_key_id. auth: the part that callers see. server_key: the server's URL, normalized.
-- revision: grows whenever the secrets change, so that a refresh never overwrites a newer rotation.
-- health: ok; refused, when the token endpoint will have no more of it; unavailable, when it could not be asked.
-- refresh_owner, refresh_expires: who is refreshing it just now.
CREATE TABLE vault_credentials (
  id text PRIMARY KEY,
  vault_id text NOT NULL REFERENCES vaults (id) ON DELETE CASCADE,
  display_name text NOT NULL,
  metadata jsonb,
  auth jsonb NOT NULL,
  server_key text NOT NULL,
  sealed text NOT NULL,
  data_key text NOT NULL,
  master_key_id text NOT NULL,
  revision integer NOT NULL DEFAULT 0,
  expires_at timestamptz,
  refreshable boolean NOT NULL DEFAULT false,
  health text NOT NULL DEFAULT 'ok',
  health_at timestamptz,
  refresh_owner text,
  refresh_expires timestamptz,
  archived_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX vault_credentials_by_vault ON vault_credentials (vault_id, server_key);
CREATE INDEX vault_credentials_by_master_key ON vault_credentials (master_key_id);

CREATE TABLE agent_vaults (
  agent_id text NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  vault_id text NOT NULL REFERENCES vaults (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (agent_id, vault_id)
);
CREATE INDEX agent_vaults_by_vault ON agent_vaults (vault_id);
