-- What a deletion still has to remove outside the database: sandboxes, attachments and, with `volume`, the subject's
-- files. Written in the transaction that deletes the rows; deleted once everything is gone. No foreign keys: it outlives
-- the agent. lease_owner, lease_expires: who is removing it just now.
CREATE TABLE pending_removals (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  agent_id text NOT NULL,
  subject_id text NOT NULL,
  session_ids text[] NOT NULL,
  volume boolean NOT NULL,
  lease_owner text,
  lease_expires timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX pending_removals_by_subject ON pending_removals (agent_id, subject_id) WHERE volume;

-- When a subject was last seen apart from its present sessions: through its files, or in sessions deleted since.
CREATE TABLE subject_activity (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  agent_id text NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  subject_id text NOT NULL,
  last_used_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (agent_id, subject_id)
);
