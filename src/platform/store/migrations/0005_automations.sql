-- schedule: normalized text; `every` counts from `anchored_at`. next_run_at: null while there is nothing to wait for.
-- occurrences: scheduled runs since the schedule was set. completed: scheduled runs that have ended, for `repeat`.
CREATE TABLE automations (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  agent_id text NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  subject_id text NOT NULL,
  name text,
  prompt text NOT NULL,
  schedule text NOT NULL,
  anchored_at timestamptz NOT NULL,
  skills text[] NOT NULL DEFAULT '{}',
  repeat integer,
  enabled boolean NOT NULL,
  next_run_at timestamptz,
  last_run_at timestamptz,
  last_status text,
  last_error text,
  last_session_id text,
  run_count integer NOT NULL DEFAULT 0,
  success_count integer NOT NULL DEFAULT 0,
  failure_count integer NOT NULL DEFAULT 0,
  skipped_count integer NOT NULL DEFAULT 0,
  occurrences integer NOT NULL DEFAULT 0,
  completed integer NOT NULL DEFAULT 0,
  failed_starts integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX automations_by_subject ON automations (agent_id, subject_id, id DESC);
CREATE INDEX automations_due ON automations (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX sessions_by_automation ON sessions (automation_id, id DESC) WHERE automation_id IS NOT NULL;

-- One row a run: the turn that the prompt opened, until it has ended. state: running, ok or error.
CREATE TABLE automation_runs (
  session_id text PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
  automation_id text NOT NULL REFERENCES automations (id) ON DELETE CASCADE,
  turn_id text NOT NULL,
  scheduled boolean NOT NULL,
  state text NOT NULL DEFAULT 'running',
  started_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz
);
CREATE INDEX automation_runs_by_automation ON automation_runs (automation_id) WHERE state = 'running';

-- The result of a run is written with the end of its turn, in the same commit: whoever ends it, and once.
CREATE FUNCTION settle_automation_run() RETURNS trigger LANGUAGE plpgsql AS $function$
DECLARE
  run automation_runs%ROWTYPE;
  idle jsonb;
  failure text;
BEGIN
  SELECT * INTO run FROM automation_runs r
  WHERE r.session_id = NEW.session_id AND r.turn_id = NEW.id AND r.state = 'running' FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  SELECT e.payload INTO idle FROM events e
  WHERE e.session_id = NEW.session_id AND e.turn_id = NEW.id AND e.type = 'session.status_idle'
  ORDER BY e.sequence DESC LIMIT 1;
  failure := CASE
    WHEN idle->'stop_reason'->>'type' = 'error' THEN coalesce(idle->'stop_reason'->>'message', 'The run failed.')
    WHEN (idle->>'interrupted')::boolean THEN 'The run was interrupted.' END;
  UPDATE automation_runs SET state = CASE WHEN failure IS NULL THEN 'ok' ELSE 'error' END, ended_at = now()
  WHERE session_id = run.session_id;
  UPDATE automations a SET
    last_status = CASE WHEN failure IS NULL THEN 'ok' ELSE 'error' END,
    last_error = failure,
    success_count = a.success_count + (failure IS NULL)::int,
    failure_count = a.failure_count + (failure IS NOT NULL)::int,
    completed = a.completed + run.scheduled::int,
    next_run_at = CASE WHEN a.completed + run.scheduled::int >= a.repeat THEN NULL ELSE a.next_run_at END,
    updated_at = now()
  WHERE a.id = run.automation_id;
  RETURN NULL;
END
$function$;
CREATE TRIGGER settle_automation_run AFTER UPDATE OF state ON turns FOR EACH ROW
  WHEN (NEW.state = 'ended' AND OLD.state IS DISTINCT FROM 'ended') EXECUTE FUNCTION settle_automation_run();
