-- People of an organization, as its identity provider names them. Rows are written at sign-in.
CREATE TABLE users (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  issuer text NOT NULL,
  -- the claim `sub`
  external_id text NOT NULL,
  email text,
  name text,
  role text NOT NULL,
  groups text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  last_sign_in_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, issuer, external_id)
);

-- One row for each browser that is signed in, with a key or as a person. The cookie holds a random token.
CREATE TABLE sign_ins (
  id text PRIMARY KEY,
  token_sha256 text NOT NULL UNIQUE,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  key_id text REFERENCES api_keys (id) ON DELETE CASCADE,
  user_id text REFERENCES users (id) ON DELETE CASCADE,
  -- of the identity provider: its session, for logout by it, and the sealed id token, for logout at it
  issuer_session text,
  id_token jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  CHECK ((key_id IS NULL) <> (user_id IS NULL))
);
CREATE INDEX sign_ins_by_key ON sign_ins (key_id, id DESC) WHERE key_id IS NOT NULL;
CREATE INDEX sign_ins_by_user ON sign_ins (user_id, id DESC) WHERE user_id IS NOT NULL;
CREATE INDEX sign_ins_by_expiry ON sign_ins (expires_at);
