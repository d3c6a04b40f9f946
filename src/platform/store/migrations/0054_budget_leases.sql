-- A process may lease money from its budgets, so that most calls of the gateway need no statement. A lease is a
-- reservation under its own id. `idle_usd`: the part of `amount_usd` that no call in progress uses. `charged_usd`: what
-- the calls of the lease have cost so far.
ALTER TABLE budget_reservations ADD COLUMN idle_usd numeric NOT NULL DEFAULT 0;
ALTER TABLE budget_reservations ADD COLUMN charged_usd numeric NOT NULL DEFAULT 0;

-- Locks the periods of the budgets that a call falls under; null: none applies. What is read afterwards is current.
CREATE FUNCTION lock_budgets(organization text, targets text[], session text, OUT ids text[], OUT periods text[])
LANGUAGE plpgsql AS $function$
BEGIN
  SELECT array_agg(b.id ORDER BY b.id), array_agg(b.key ORDER BY b.id) INTO ids, periods FROM (
    SELECT o.id, budget_period_key(o.period, session, now()) AS key FROM budgets o
    WHERE o.organization_id = organization AND o.scope || '/' || o.target_id = ANY(targets)
    FOR KEY SHARE) AS b
  WHERE b.key IS NOT NULL;
  INSERT INTO budget_periods (budget_id, period)
    SELECT w.id, w.period FROM unnest(ids, periods) AS w (id, period) ORDER BY w.id ON CONFLICT DO NOTHING;
  PERFORM 1 FROM budget_periods p JOIN unnest(ids, periods) AS w (id, period)
    ON p.budget_id = w.id AND p.period = w.period ORDER BY p.budget_id FOR UPDATE OF p;
END
$function$;

-- What is neither spent nor reserved, of the budget that has least; null where no budget refuses calls. `except_call`:
-- its own reservation does not count.
CREATE FUNCTION find_budget_room(ids text[], periods text[], except_call text) RETURNS numeric
LANGUAGE plpgsql AS $function$
BEGIN
  RETURN (SELECT min(b.limit_usd - p.spent_usd - coalesce((
      SELECT sum(r.amount_usd) FROM budget_reservations r
      WHERE r.budget_id = w.id AND r.period = w.period AND r.expires_at > now() AND r.call_id <> except_call), 0))
    FROM unnest(ids, periods) AS w (id, period) JOIN budgets b ON b.id = w.id
    JOIN budget_periods p ON p.budget_id = w.id AND p.period = w.period WHERE b.on_reached <> 'notify');
END
$function$;

-- As before. `recallable`: leases hold money that no call uses. `room`: what is left for leases; null: no limit.
CREATE OR REPLACE FUNCTION reserve_budgets(organization text, targets text[], session text, call text, amount numeric,
  seconds int) RETURNS jsonb LANGUAGE plpgsql AS $function$
DECLARE
  ids text[];
  periods text[];
  refused jsonb;
  recallable boolean;
BEGIN
  SELECT l.ids, l.periods INTO ids, periods FROM lock_budgets(organization, targets, session) AS l;
  IF ids IS NULL THEN RETURN jsonb_build_object('held', 0); END IF;
  SELECT jsonb_build_object('scope', b.scope, 'id', b.target_id, 'limitUsd', b.limit_usd, 'period', b.period,
      'onReached', b.on_reached, 'spentUsd', p.spent_usd), b.limit_usd > p.spent_usd + v.reserved - v.idle
    INTO refused, recallable
    FROM unnest(ids, periods) AS w (id, period) JOIN budgets b ON b.id = w.id
    JOIN budget_periods p ON p.budget_id = w.id AND p.period = w.period
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(r.amount_usd), 0) AS reserved, coalesce(sum(r.idle_usd), 0) AS idle
      FROM budget_reservations r WHERE r.budget_id = w.id AND r.period = w.period AND r.expires_at > now()) AS v
    WHERE b.on_reached <> 'notify' AND b.limit_usd <= p.spent_usd + v.reserved
    ORDER BY b.limit_usd > p.spent_usd + v.reserved - v.idle, b.id LIMIT 1;
  IF refused IS NOT NULL THEN RETURN jsonb_build_object('refused', refused, 'recallable', recallable); END IF;
  INSERT INTO budget_reservations (call_id, budget_id, period, amount_usd, expires_at)
    SELECT call, w.id, w.period, amount, now() + seconds * interval '1 second' FROM unnest(ids, periods) AS w (id, period);
  RETURN jsonb_build_object('held', array_length(ids, 1), 'room', find_budget_room(ids, periods, ''));
END
$function$;

-- Adds amounts to locked periods, each of them at most once. Returns the thresholds that this has crossed, and puts
-- their deliveries into the outbox of webhooks.
CREATE FUNCTION charge_budgets(ids text[], periods text[], amounts numeric[]) RETURNS jsonb
LANGUAGE plpgsql AS $function$
DECLARE
  result jsonb;
BEGIN
  WITH before AS (
    SELECT p.budget_id, p.period, p.told, p.spent_usd + s.amount AS spent, b.organization_id, b.scope, b.target_id,
      b.limit_usd, b.period AS kind, b.on_reached
    FROM unnest(ids, periods, amounts) AS s (budget_id, period, amount)
      JOIN budget_periods p ON p.budget_id = s.budget_id AND p.period = s.period
      JOIN budgets b ON b.id = s.budget_id
  ), crossed AS (
    SELECT f.*, t.threshold FROM before f, unnest(ARRAY[50, 80, 100]) AS t (threshold)
    WHERE t.threshold > f.told AND f.spent >= f.limit_usd * t.threshold / 100
  ), added AS (
    UPDATE budget_periods p SET spent_usd = f.spent,
      told = greatest(p.told, coalesce((SELECT max(c.threshold) FROM crossed c
        WHERE c.budget_id = f.budget_id AND c.period = f.period), 0))
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

CREATE OR REPLACE FUNCTION settle_budgets(call text, amount numeric) RETURNS jsonb LANGUAGE plpgsql AS $function$
DECLARE
  ids text[];
  periods text[];
BEGIN
  PERFORM 1 FROM budget_periods p JOIN budget_reservations r ON r.budget_id = p.budget_id AND r.period = p.period
    WHERE r.call_id = call ORDER BY p.budget_id FOR UPDATE OF p;
  WITH settled AS (DELETE FROM budget_reservations r WHERE r.call_id = call RETURNING r.budget_id, r.period)
    SELECT array_agg(s.budget_id), array_agg(s.period) INTO ids, periods FROM settled s;
  IF ids IS NULL THEN RETURN '[]'; END IF;
  RETURN charge_budgets(ids, periods, array_fill(amount, ARRAY[array_length(ids, 1)]));
END
$function$;

-- Milliseconds until the period ends; 0: it has ended, or the budget has periods of another kind; null: it never ends.
CREATE FUNCTION budget_period_ends_in(kind text, period text) RETURNS float8 LANGUAGE sql STABLE AS $function$
  SELECT CASE WHEN period IS DISTINCT FROM budget_period_key(kind, NULL, now()) THEN 0
    WHEN kind IN ('day', 'week', 'month') THEN extract(epoch FROM ((date_trunc(kind, now() AT TIME ZONE 'UTC')
      + ('1 ' || kind)::interval) AT TIME ZONE 'UTC') - now())::float8 * 1000 END
$function$;

-- Opens a lease for calls without a session, of at most a sixteenth of what is left; null where that is too little to be
-- of use, which is a 32nd of what is wanted.
CREATE FUNCTION open_budget_lease(organization text, targets text[], lease text, wanted numeric, seconds int)
RETURNS jsonb LANGUAGE plpgsql AS $function$
DECLARE
  ids text[];
  periods text[];
  fair numeric;
  ends float8;
BEGIN
  SELECT l.ids, l.periods INTO ids, periods FROM lock_budgets(organization, targets, NULL) AS l;
  IF ids IS NULL THEN RETURN NULL; END IF;
  fair := least(find_budget_room(ids, periods, lease) / 16, wanted);
  IF fair < wanted / 32 THEN RETURN NULL; END IF;
  INSERT INTO budget_reservations (call_id, budget_id, period, amount_usd, idle_usd, expires_at)
    SELECT lease, w.id, w.period, fair, fair, now() + seconds * interval '1 second'
    FROM unnest(ids, periods) AS w (id, period);
  SELECT min(budget_period_ends_in(b.period, w.period)) INTO ends
    FROM unnest(ids, periods) AS w (id, period) JOIN budgets b ON b.id = w.id;
  RETURN jsonb_build_object('id', lease, 'amountUsd', fair, 'fairUsd', fair, 'endsInMs', ends);
END
$function$;

-- Charges what the calls of leases have cost, and sets what they may still cost. `leases`: of each `id`, `charged` in all
-- so far, `held` by calls in progress, `kept` (that and what calls may take meanwhile), and what is `wanted`. Charging
-- again changes nothing. A lease that gets nothing ends; one that is not in the answer has no budget any more.
CREATE FUNCTION renew_budget_leases(leases jsonb, seconds int) RETURNS jsonb LANGUAGE plpgsql AS $function$
DECLARE
  ids text[];
  periods text[];
  amounts numeric[];
  crossed jsonb;
  o record;
  fair numeric;
  amount numeric;
  renewed jsonb := '[]';
BEGIN
  PERFORM 1 FROM budgets b WHERE b.id IN (
      SELECT r.budget_id FROM jsonb_to_recordset(leases) AS l (id text) JOIN budget_reservations r ON r.call_id = l.id)
    ORDER BY b.id FOR KEY SHARE;
  PERFORM 1 FROM budget_periods p WHERE (p.budget_id, p.period) IN (
      SELECT r.budget_id, r.period
      FROM jsonb_to_recordset(leases) AS l (id text) JOIN budget_reservations r ON r.call_id = l.id)
    ORDER BY p.budget_id, p.period FOR UPDATE;
  SELECT array_agg(d.budget_id), array_agg(d.period), array_agg(d.due) INTO ids, periods, amounts FROM (
    SELECT r.budget_id, r.period, sum(greatest(l.charged - r.charged_usd, 0)) AS due
    FROM jsonb_to_recordset(leases) AS l (id text, charged numeric) JOIN budget_reservations r ON r.call_id = l.id
    GROUP BY r.budget_id, r.period) AS d WHERE d.due > 0;
  crossed := CASE WHEN ids IS NULL THEN '[]' ELSE charge_budgets(ids, periods, amounts) END;
  UPDATE budget_reservations r SET charged_usd = greatest(r.charged_usd, l.charged),
      amount_usd = CASE WHEN r.expires_at > now() THEN l.kept ELSE l.held END,
      idle_usd = CASE WHEN r.expires_at > now() THEN l.kept - l.held ELSE 0 END,
      expires_at = now() + seconds * interval '1 second'
    FROM jsonb_to_recordset(leases) AS l (id text, charged numeric, kept numeric, held numeric) WHERE r.call_id = l.id;
  FOR o IN
    SELECT l.id, l.held, l.wanted, min(r.amount_usd) AS amount, array_agg(r.budget_id) AS budgets,
      array_agg(r.period) AS periods, min(budget_period_ends_in(b.period, r.period)) AS ends
    FROM jsonb_to_recordset(leases) AS l (id text, held numeric, wanted numeric)
      JOIN budget_reservations r ON r.call_id = l.id JOIN budgets b ON b.id = r.budget_id
    GROUP BY l.id, l.held, l.wanted
  LOOP
    fair := least(find_budget_room(o.budgets, o.periods, o.id) / 16, o.wanted);
    IF o.ends = 0 OR fair < o.wanted / 32 THEN fair := 0; END IF;
    amount := greatest(o.amount, fair);
    IF amount = 0 AND o.held = 0 THEN
      DELETE FROM budget_reservations WHERE call_id = o.id;
    ELSIF amount > o.amount THEN
      UPDATE budget_reservations SET amount_usd = amount, idle_usd = amount - o.held WHERE call_id = o.id;
    END IF;
    renewed := renewed || jsonb_build_object('id', o.id, 'amountUsd', amount, 'fairUsd', fair, 'endsInMs', o.ends);
  END LOOP;
  RETURN jsonb_build_object('leases', renewed, 'crossed', crossed);
END
$function$;
