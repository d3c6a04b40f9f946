-- Logins, signups and refreshes that sign in with a browser, for whoever asks later. owner: the process whose browser
-- holds the page; alive_until: moved on by it, so that a login whose process has ended is known. action: what it waits for.
-- error: as callers see it. session_key: of the session in login_sessions. trace: what was seen and done, without texts.
CREATE TABLE logins (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  operation text NOT NULL,
  origin text NOT NULL,
  username_hint text,
  method text NOT NULL,
  owner text NOT NULL,
  state text NOT NULL,
  action jsonb,
  error jsonb,
  cache text,
  session_key text,
  credential_id text,
  trace jsonb,
  alive_until timestamptz NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz
);
CREATE INDEX logins_by_organization ON logins (organization_id, id DESC);
CREATE INDEX logins_open ON logins (alive_until) WHERE ended_at IS NULL;
CREATE INDEX logins_ended ON logins (ended_at) WHERE ended_at IS NOT NULL;
