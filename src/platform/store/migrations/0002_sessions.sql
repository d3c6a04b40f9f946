-- wake_at: when a worker should look at the session; null when there is nothing to do.
-- lease_epoch: grows with each claim; a write that carries an older one is refused.
-- live_turn: the turn that is running or waiting, null when idle.
CREATE TABLE sessions (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  agent_id text NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  agent_version_id text NOT NULL,
  agent_version integer NOT NULL,
  subject_id text NOT NULL,
  role text,
  title text,
  title_fixed boolean NOT NULL,
  yolo_mode boolean NOT NULL DEFAULT false,
  preview boolean NOT NULL DEFAULT false,
  tag text,
  metadata jsonb NOT NULL DEFAULT '{}',
  automation_id text,
  goal jsonb,
  status text NOT NULL DEFAULT 'idle',
  usage jsonb,
  tool_state jsonb NOT NULL DEFAULT '{}',
  session_approvals text[] NOT NULL DEFAULT '{}',
  compaction jsonb,
  last_sequence bigint NOT NULL DEFAULT 0,
  queued_count integer NOT NULL DEFAULT 0,
  live_turn text,
  interrupt jsonb,
  wake_at timestamptz,
  lease_owner text,
  lease_epoch bigint NOT NULL DEFAULT 0,
  lease_expires timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  last_activity_at timestamptz NOT NULL DEFAULT now(),
  archived_at timestamptz
) WITH (fillfactor = 70);
CREATE INDEX sessions_by_organization ON sessions (organization_id, id DESC);
CREATE INDEX sessions_by_subject ON sessions (agent_id, subject_id, id DESC);
CREATE INDEX sessions_to_wake ON sessions (wake_at) WHERE wake_at IS NOT NULL;

-- The log. `internal` is what the loop needs and callers never see (model call ids, proofs of reasoning).
-- Partitioned by time so that old months can be detached; uniqueness of (session_id, sequence) is kept by the
-- row lock on the session, under which alone sequences are handed out.
CREATE TABLE events (
  session_id text NOT NULL,
  sequence bigint NOT NULL,
  id text NOT NULL,
  type text NOT NULL,
  turn_id text,
  status text,
  payload jsonb NOT NULL,
  usage jsonb,
  internal jsonb,
  processed_at timestamptz,
  created_at timestamptz NOT NULL
) PARTITION BY RANGE (created_at);
CREATE INDEX events_by_session ON events (session_id, sequence);
CREATE TABLE events_default PARTITION OF events DEFAULT;

-- state: running, waiting, ended. `step` is the journal of the model reply whose calls are not all done.
CREATE TABLE turns (
  id text PRIMARY KEY,
  session_id text NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  organization_id text NOT NULL,
  state text NOT NULL DEFAULT 'running',
  steps integer NOT NULL DEFAULT 0,
  step jsonb,
  usage jsonb,
  started_at timestamptz NOT NULL,
  ended_at timestamptz
);
CREATE INDEX turns_by_session ON turns (session_id, id);

-- What will open a turn once the session is free, oldest first.
CREATE TABLE inbox (
  session_id text NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  position bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL,
  event_id text,
  content jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (session_id, position)
);

-- Asks, also after they were answered: state pending, answered, expired or cancelled.
CREATE TABLE pending_actions (
  id text NOT NULL,
  session_id text NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  turn_id text NOT NULL,
  type text NOT NULL,
  tool_use_id text NOT NULL,
  tool_name text NOT NULL,
  state text NOT NULL DEFAULT 'pending',
  answer jsonb,
  answer_event_id text,
  kickoff boolean NOT NULL DEFAULT false,
  final_event_id text,
  deadline timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (session_id, id)
);

CREATE TABLE idempotency_keys (
  organization_id text NOT NULL,
  scope text NOT NULL,
  key text NOT NULL,
  body_sha256 text NOT NULL,
  status integer NOT NULL,
  response jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, scope, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
