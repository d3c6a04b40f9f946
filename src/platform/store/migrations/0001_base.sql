CREATE TABLE organizations (
  id text PRIMARY KEY,
  name text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name text NOT NULL,
  prefix text NOT NULL,
  key_sha256 text NOT NULL UNIQUE,
  scopes text[] NOT NULL,
  requests_per_minute integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);

CREATE TABLE agents (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active',
  conversations_per_minute integer NOT NULL,
  messages_per_minute integer NOT NULL,
  latest_version integer NOT NULL,
  production_version integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX agents_by_organization ON agents (organization_id, id DESC);

-- Immutable. `skills` holds the Markdown too. `json` keeps the order of keys, which models see in input schemas.
CREATE TABLE agent_versions (
  id text PRIMARY KEY,
  agent_id text NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  version integer NOT NULL,
  model_name text NOT NULL,
  system_prompt text NOT NULL,
  skills jsonb NOT NULL,
  tools json NOT NULL,
  roles json NOT NULL,
  mcp_servers jsonb NOT NULL,
  metadata jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (agent_id, version)
);

CREATE TABLE agent_tags (
  agent_id text NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  name text NOT NULL,
  version integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (agent_id, name)
);

CREATE TABLE standing_approvals (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  agent_id text NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  subject_id text NOT NULL,
  tool text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (agent_id, subject_id, tool)
);
