-- What may be spent. `target_id`: whose, within the scope: an id, of a subject `<agent>:<subject>`.
CREATE TABLE budgets (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  scope text NOT NULL,
  target_id text NOT NULL,
  limit_usd numeric NOT NULL,
  period text NOT NULL,
  on_reached text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, scope, target_id)
);

-- What was spent in each period. `period`: the first day (UTC), a session, or `total`. `told`: the last threshold, in
-- percent, that webhooks were told of.
CREATE TABLE budget_periods (
  budget_id text NOT NULL REFERENCES budgets (id) ON DELETE CASCADE,
  period text NOT NULL,
  spent_usd numeric NOT NULL DEFAULT 0,
  told integer NOT NULL DEFAULT 0,
  PRIMARY KEY (budget_id, period)
);

-- The worst case of each model call under way. A worker that lives extends its own; those of a dead one count until
-- `expires_at`. A call is settled where its rows still exist, so it is settled once.
CREATE TABLE budget_reservations (
  call_id text NOT NULL,
  budget_id text NOT NULL REFERENCES budgets (id) ON DELETE CASCADE,
  period text NOT NULL,
  amount_usd numeric NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (call_id, budget_id)
);
CREATE INDEX budget_reservations_by_budget ON budget_reservations (budget_id, period);

-- The start of a period; null for `session` and `total`.
CREATE FUNCTION budget_period_start(period text, at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $function$
  SELECT CASE WHEN period IN ('day', 'week', 'month')
    THEN date_trunc(period, at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' END
$function$;

-- The name of a period in `budget_periods`; null for a call without a session where the budget is for each session.
CREATE FUNCTION budget_period_key(period text, session_id text, at timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE AS $function$
  SELECT CASE period WHEN 'session' THEN session_id WHEN 'total' THEN 'total'
    ELSE to_char(budget_period_start(period, at) AT TIME ZONE 'UTC', 'YYYY-MM-DD') END
$function$;

-- Admits a model call, or names the budget that refuses it. `targets`: `<scope>/<id>`. The rows are locked first and
-- read afterwards, so calls of many workers are admitted one after the other.
CREATE FUNCTION reserve_budgets(organization text, targets text[], session text, call text, amount numeric, seconds int)
RETURNS jsonb LANGUAGE plpgsql AS $function$
DECLARE
  ids text[];
  periods text[];
  refused jsonb;
BEGIN
  SELECT array_agg(b.id ORDER BY b.id), array_agg(b.key ORDER BY b.id) INTO ids, periods FROM (
    SELECT o.id, budget_period_key(o.period, session, now()) AS key FROM budgets o
    WHERE o.organization_id = organization AND o.scope || '/' || o.target_id = ANY(targets)
    FOR KEY SHARE) AS b
  WHERE b.key IS NOT NULL;
  IF ids IS NULL THEN RETURN jsonb_build_object('held', 0); END IF;
  INSERT INTO budget_periods (budget_id, period)
    SELECT w.id, w.period FROM unnest(ids, periods) AS w (id, period) ORDER BY w.id ON CONFLICT DO NOTHING;
  PERFORM 1 FROM budget_periods p JOIN unnest(ids, periods) AS w (id, period)
    ON p.budget_id = w.id AND p.period = w.period ORDER BY p.budget_id FOR UPDATE OF p;
  SELECT jsonb_build_object('scope', b.scope, 'id', b.target_id, 'limitUsd', b.limit_usd, 'period', b.period,
      'onReached', b.on_reached, 'spentUsd', p.spent_usd) INTO refused
    FROM unnest(ids, periods) AS w (id, period) JOIN budgets b ON b.id = w.id
    JOIN budget_periods p ON p.budget_id = w.id AND p.period = w.period
    WHERE b.on_reached <> 'notify' AND b.limit_usd <= p.spent_usd + coalesce((
      SELECT sum(r.amount_usd) FROM budget_reservations r
      WHERE r.budget_id = w.id AND r.period = w.period AND r.expires_at > now()), 0)
    ORDER BY b.id LIMIT 1;
  IF refused IS NOT NULL THEN RETURN jsonb_build_object('refused', refused); END IF;
  INSERT INTO budget_reservations (call_id, budget_id, period, amount_usd, expires_at)
    SELECT call, w.id, w.period, amount, now() + seconds * interval '1 second' FROM unnest(ids, periods) AS w (id, period);
  RETURN jsonb_build_object('held', array_length(ids, 1));
END
$function$;

-- Replaces the reservations of a call by what it cost. The column `data` of deliveries comes with 0045. Returns the thresholds that this has crossed, and puts their
-- deliveries into the outbox of webhooks.
CREATE FUNCTION settle_budgets(call text, amount numeric) RETURNS jsonb LANGUAGE plpgsql AS $function$
DECLARE
  result jsonb;
BEGIN
  PERFORM 1 FROM budget_periods p JOIN budget_reservations r ON r.budget_id = p.budget_id AND r.period = p.period
    WHERE r.call_id = call ORDER BY p.budget_id FOR UPDATE OF p;
  WITH settled AS (
    DELETE FROM budget_reservations r WHERE r.call_id = call RETURNING r.budget_id, r.period
  ), before AS (
    SELECT p.budget_id, p.period, p.told, p.spent_usd + amount AS spent, b.organization_id, b.scope, b.target_id,
      b.limit_usd, b.period AS kind, b.on_reached
    FROM settled s JOIN budget_periods p ON p.budget_id = s.budget_id AND p.period = s.period
      JOIN budgets b ON b.id = s.budget_id
  ), crossed AS (
    SELECT f.*, t.threshold FROM before f, unnest(ARRAY[50, 80, 100]) AS t (threshold)
    WHERE t.threshold > f.told AND f.spent >= f.limit_usd * t.threshold / 100
  ), added AS (
    UPDATE budget_periods p SET spent_usd = f.spent,
      told = greatest(p.told, coalesce((SELECT max(c.threshold) FROM crossed c WHERE c.budget_id = f.budget_id), 0))
    FROM before f WHERE p.budget_id = f.budget_id AND p.period = f.period
  ), described AS (
    SELECT c.budget_id, c.organization_id, c.threshold,
      CASE WHEN c.scope = 'session' THEN c.target_id WHEN c.kind = 'session' THEN c.period END AS session_id,
      CASE WHEN c.scope = 'agent' THEN c.target_id
        WHEN c.scope = 'subject' THEN split_part(c.target_id, ':', 1) END AS agent_id,
      CASE WHEN c.scope = 'subject' THEN substr(c.target_id, strpos(c.target_id, ':') + 1) END AS subject_id,
      jsonb_build_object('scope', c.scope, 'id', c.target_id, 'limitUsd', c.limit_usd, 'period', c.kind,
        'onReached', c.on_reached, 'spentUsd', c.spent) AS budget
    FROM crossed c
  ), notified AS (
    INSERT INTO webhook_deliveries (id, webhook_id, organization_id, type, session_id, agent_id, subject_id, data)
    SELECT 'msg_' || replace(gen_random_uuid()::text, '-', ''), w.id, d.organization_id, 'budget.threshold', d.session_id,
      d.agent_id, d.subject_id, jsonb_build_object('sessionId', d.session_id, 'agentId', d.agent_id,
        'subjectId', d.subject_id, 'eventId', NULL, 'budget', d.budget, 'threshold', d.threshold)
    FROM described d JOIN webhooks w ON w.organization_id = d.organization_id AND w.enabled
      AND ('budget.threshold' = ANY(w.events) OR w.events = '{*}')
    ORDER BY d.budget_id, d.threshold
  )
  SELECT jsonb_agg(jsonb_build_object('organizationId', d.organization_id, 'sessionId', d.session_id,
    'agentId', d.agent_id, 'subjectId', d.subject_id, 'budget', d.budget, 'threshold', d.threshold)
    ORDER BY d.budget_id, d.threshold) INTO result FROM described d;
  RETURN coalesce(result, '[]');
END
$function$;

-- Sessions that go on when a budget is raised.
CREATE INDEX sessions_over_budget ON sessions (organization_id) WHERE last_stop_reason->>'type' = 'budget_reached';
