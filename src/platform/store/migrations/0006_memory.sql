-- Notes that models read: the agent's own (target agent, subject_id '') and two of each subject (user, memory).
CREATE TABLE memories (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  agent_id text NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  subject_id text NOT NULL,
  target text NOT NULL,
  content text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (agent_id, subject_id, target)
);

-- Names and descriptions of the skills on a subject's volume, so that a prompt needs no sandbox to list them.
CREATE TABLE learned_skills (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  agent_id text NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  subject_id text NOT NULL,
  skills jsonb NOT NULL,
  PRIMARY KEY (agent_id, subject_id)
);

-- What the first turn put into the system prompt; kept, so that the prompt's prefix stays the same for the session.
ALTER TABLE sessions ADD COLUMN prompt_snapshot jsonb;
-- Configured skills that an automation wants in the prompt of its run.
ALTER TABLE sessions ADD COLUMN run_skills text[] NOT NULL DEFAULT '{}';
