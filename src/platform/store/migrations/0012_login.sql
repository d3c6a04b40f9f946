-- Sessions of websites that can be handed out again. key: HMAC of organization, collection, login URL, method, user name
-- and password. sealed, data_key, master_key_id: cookies, storage and the page to look at, as in vault_credentials.
-- expires_at: with the first authentication cookie, 24 hours at most. checked_at: when it was last seen to work.
CREATE TABLE login_sessions (
  key text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  sealed text NOT NULL,
  data_key text NOT NULL,
  master_key_id text NOT NULL,
  expires_at timestamptz NOT NULL,
  checked_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX login_sessions_by_expiry ON login_sessions (expires_at);

-- What a signup leaves for later: where, how and with what to sign in again. domain, username, method: what callers see.
-- sealed: the rest with the password, and the last session.
CREATE TABLE login_credentials (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  collection_id text,
  domain text NOT NULL,
  username text,
  method text NOT NULL,
  sealed text NOT NULL,
  data_key text NOT NULL,
  master_key_id text NOT NULL,
  session_key text NOT NULL,
  expires_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX login_credentials_by_organization ON login_credentials (organization_id, id DESC);

-- Logins under way, so that their number has a bound over all replicas; one that crashed counts until it expires.
-- key: of the session that it is for; one job a key, the others wait for what comes of it.
CREATE TABLE login_jobs (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  key text,
  expires_at timestamptz NOT NULL
);
CREATE INDEX login_jobs_by_organization ON login_jobs (organization_id);
CREATE UNIQUE INDEX login_jobs_by_key ON login_jobs (key);

-- Questions that wait for a code or link. owner: the replica whose browser holds the page.
CREATE TABLE login_challenges (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  owner text NOT NULL,
  kind text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX login_challenges_by_expiry ON login_challenges (expires_at);
