-- timezone: IANA name, for cron expressions. retries: failed attempts of the occurrence that is tried again.
ALTER TABLE automations ADD COLUMN timezone text NOT NULL DEFAULT 'UTC', ADD COLUMN retries integer NOT NULL DEFAULT 0;

-- As before, and: a scheduled run that ended with a retryable error is tried again after 1, 5, 15 and 60 minutes, at the
-- next occurrence if that is earlier. Only then has it failed. `completed` counts runs that ended well.
CREATE OR REPLACE FUNCTION settle_automation_run() RETURNS trigger LANGUAGE plpgsql AS $function$
DECLARE
  run automation_runs%ROWTYPE;
  idle jsonb;
  failure text;
  transient boolean;
  delays constant integer[] := '{1,5,15,60}';
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
  transient := run.scheduled AND failure IS NOT NULL AND coalesce((idle->'stop_reason'->>'retryable')::boolean, false);
  UPDATE automation_runs SET state = CASE WHEN failure IS NULL THEN 'ok' ELSE 'error' END, ended_at = now()
  WHERE session_id = run.session_id;
  UPDATE automations a SET
    last_status = CASE WHEN failure IS NULL THEN 'ok' ELSE 'error' END,
    last_error = failure,
    success_count = a.success_count + (failure IS NULL)::int,
    failure_count = a.failure_count + (failure IS NOT NULL AND NOT (transient AND a.retries < 4))::int,
    retries = CASE WHEN NOT run.scheduled THEN a.retries WHEN transient AND a.retries < 4 THEN a.retries + 1 ELSE 0 END,
    completed = a.completed + (run.scheduled AND failure IS NULL)::int,
    next_run_at = CASE
      WHEN a.completed + (run.scheduled AND failure IS NULL)::int >= a.repeat THEN NULL
      WHEN a.enabled AND transient AND a.retries < 4
        THEN least(a.next_run_at, now() + delays[a.retries + 1] * interval '1 minute')
      ELSE a.next_run_at END,
    updated_at = now()
  WHERE a.id = run.automation_id;
  RETURN NULL;
END
$function$;
