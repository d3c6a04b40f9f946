-- What lists of sessions show of the latest turn. `last_outcome`: ok, error or interrupted; null until a turn has ended.
ALTER TABLE sessions ADD COLUMN last_stop_reason jsonb, ADD COLUMN last_outcome text;

-- The outcome that the payload of a `session.status_idle` stands for; null where the turn only waits.
CREATE FUNCTION turn_outcome(idle jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $function$
  SELECT CASE WHEN idle IS NULL OR idle->'stop_reason'->>'type' = 'requires_action' THEN NULL
    WHEN idle->'interrupted' = 'true' THEN 'interrupted'
    WHEN idle->'stop_reason'->>'type' = 'end_turn' THEN 'ok' ELSE 'error' END
$function$;

UPDATE sessions s SET last_stop_reason = latest.payload->'stop_reason', last_outcome = turn_outcome(latest.payload)
FROM sessions o CROSS JOIN LATERAL (
  SELECT e.payload FROM events e WHERE e.session_id = o.id AND e.type = 'session.status_idle'
  ORDER BY e.sequence DESC LIMIT 1) AS latest
WHERE s.id = o.id;

CREATE INDEX sessions_live ON sessions (organization_id, status, id DESC)
  WHERE status IN ('running', 'waiting_on_human');

-- `sequence`: the place in the log of the event that asked. `answered_by`: { type, id }.
ALTER TABLE pending_actions ADD COLUMN organization_id text, ADD COLUMN sequence bigint,
  ADD COLUMN answered_at timestamptz, ADD COLUMN answered_by jsonb;
UPDATE pending_actions p SET organization_id = s.organization_id FROM sessions s WHERE s.id = p.session_id;
UPDATE pending_actions p SET sequence = e.sequence FROM events e
WHERE e.session_id = p.session_id AND e.id = p.id;
DELETE FROM pending_actions WHERE organization_id IS NULL;
ALTER TABLE pending_actions ALTER COLUMN organization_id SET NOT NULL;
CREATE INDEX pending_actions_open ON pending_actions (organization_id, created_at, id) WHERE state = 'pending';
CREATE INDEX pending_actions_closed ON pending_actions (organization_id, created_at, id) WHERE state <> 'pending';

-- As in 0003_journal.sql; also stores how the latest turn ended, and what an ask belongs to.
CREATE OR REPLACE FUNCTION write_journal(entries jsonb)
RETURNS TABLE (written_id text, written_organization text, written_base bigint, written_at timestamptz, written_awake boolean)
LANGUAGE plpgsql AS $function$
BEGIN
RETURN QUERY
WITH input AS (
  SELECT e->>'sessionId' AS session_id, (e->>'epoch')::bigint AS epoch, e->'events' AS events,
         jsonb_array_length(e->'events') AS size, coalesce(e->'session', '{}') AS patch, e->'turn' AS turn,
         e->'asks' AS asks, e->'closeAsks' AS close_asks, e->'inbound' AS inbound, e->'taken' AS taken,
         coalesce(jsonb_array_length(e->'taken'), 0) AS taken_size,
         (SELECT v.e->'payload' FROM jsonb_array_elements(e->'events') WITH ORDINALITY AS v (e, n)
          WHERE v.e->'payload'->>'type' = 'session.status_idle' ORDER BY v.n DESC LIMIT 1) AS idle
  FROM jsonb_array_elements(entries) AS e
), bumped AS (
  UPDATE sessions s SET
    last_sequence = s.last_sequence + i.size,
    status = coalesce(i.patch->>'status', s.status),
    live_turn = CASE WHEN i.patch ? 'liveTurn' THEN i.patch->>'liveTurn' ELSE s.live_turn END,
    usage = CASE WHEN i.patch ? 'usage' OR i.patch ? 'usageAdd' THEN
      coalesce(s.usage, '{}') || coalesce(i.patch->'usage', '{}') || coalesce((
        SELECT jsonb_object_agg(a.key, a.value::numeric + coalesce((s.usage->>a.key)::numeric, 0))
        FROM jsonb_each_text(coalesce(i.patch->'usageAdd', '{}')) AS a), '{}')
      ELSE s.usage END,
    tool_state = coalesce(i.patch->'toolState', s.tool_state),
    title = CASE WHEN s.title_fixed THEN s.title ELSE coalesce(i.patch->>'title', s.title) END,
    goal = CASE WHEN i.patch ? 'goal' THEN nullif(i.patch->'goal', 'null') ELSE s.goal END,
    compaction = coalesce(i.patch->'compaction', s.compaction),
    interrupt = CASE WHEN i.patch ? 'clearInterrupt' THEN NULL ELSE s.interrupt END,
    queued_count = s.queued_count - i.taken_size,
    wake_at = CASE
      WHEN NOT i.patch ? 'wakeAt' THEN s.wake_at
      WHEN s.queued_count - i.taken_size > 0 AND i.patch->>'status' IS DISTINCT FROM 'waiting_on_human' THEN now()
      WHEN s.interrupt IS NOT NULL AND NOT i.patch ? 'clearInterrupt' THEN now()
      WHEN s.last_sequence > (i.patch->>'seen')::bigint THEN now()
      ELSE (i.patch->>'wakeAt')::timestamptz END,
    lease_owner = CASE WHEN i.patch ? 'release' THEN NULL ELSE s.lease_owner END,
    lease_expires = CASE WHEN i.patch ? 'release' THEN NULL ELSE s.lease_expires END,
    last_stop_reason = coalesce(i.idle->'stop_reason', s.last_stop_reason),
    last_outcome = coalesce(turn_outcome(i.idle), s.last_outcome),
    last_activity_at = now(),
    updated_at = CASE WHEN i.patch ? 'status' OR i.patch ? 'title' THEN now() ELSE s.updated_at END
  FROM input i
  WHERE s.id = i.session_id AND (i.epoch IS NULL OR s.lease_epoch = i.epoch)
  RETURNING s.id, s.organization_id, s.last_sequence - i.size AS base, i.events, i.turn, i.asks, i.close_asks,
            i.inbound, i.taken, coalesce(s.wake_at <= now(), false) AS awake
), written AS (
  INSERT INTO events (session_id, sequence, id, type, turn_id, status, payload, usage, internal, processed_at, created_at)
  SELECT b.id, b.base + v.n, v.e->>'id', v.e->'payload'->>'type', v.e->>'turnId', v.e->>'status', v.e->'payload',
         v.e->'usage', v.e->'internal', CASE WHEN v.e ? 'processed' THEN now() END, now()
  FROM bumped b, jsonb_array_elements(b.events) WITH ORDINALITY AS v (e, n)
), turned AS (
  INSERT INTO turns (id, session_id, organization_id, state, steps, step, usage, started_at, ended_at)
  SELECT b.turn->>'id', b.id, b.organization_id, b.turn->>'state', coalesce((b.turn->>'steps')::int, 0),
         nullif(b.turn->'step', 'null'), b.turn->'usage', now(), CASE WHEN b.turn->>'state' = 'ended' THEN now() END
  FROM bumped b WHERE b.turn IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET
    state = excluded.state,
    steps = greatest(turns.steps, excluded.steps),
    step = excluded.step,
    usage = coalesce(excluded.usage, turns.usage),
    ended_at = excluded.ended_at
), asked AS (
  INSERT INTO pending_actions (id, session_id, turn_id, type, tool_use_id, tool_name, deadline, organization_id, sequence)
  SELECT a->>'id', b.id, a->>'turnId', a->>'type', a->>'toolUseId', a->>'toolName', (a->>'deadline')::timestamptz,
         b.organization_id, (SELECT b.base + v.n FROM jsonb_array_elements(b.events) WITH ORDINALITY AS v (e, n)
                             WHERE v.e->>'id' = a->>'id' LIMIT 1)
  FROM bumped b, jsonb_array_elements(b.asks) AS a
), closed AS (
  UPDATE pending_actions p SET state = b.close_asks->>'state'
  FROM bumped b
  WHERE b.close_asks IS NOT NULL AND p.session_id = b.id AND p.state = 'pending' AND b.close_asks->'ids' ? p.id
), taken_up AS (
  UPDATE events v SET status = b.inbound->>'status', turn_id = coalesce(v.turn_id, b.inbound->>'turnId'),
    processed_at = CASE WHEN b.inbound->>'status' = 'processed' THEN now() END
  FROM bumped b
  WHERE b.inbound IS NOT NULL AND v.session_id = b.id
    AND v.sequence IN (SELECT jsonb_array_elements_text(b.inbound->'sequences')::bigint)
), emptied AS (
  DELETE FROM inbox x USING bumped b
  WHERE b.taken IS NOT NULL AND x.session_id = b.id
    AND x.position IN (SELECT jsonb_array_elements_text(b.taken)::bigint)
)
SELECT b.id, b.organization_id, b.base, now(), b.awake FROM bumped b;
END
$function$;
