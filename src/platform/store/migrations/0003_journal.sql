-- The one way into the log: events, session row, turn and asks of one or many sessions change together or not at all.
-- The row lock on the session orders all writers of its log, and the epoch fences out those whose lease is gone.
-- `queued_count` and `interrupt` are read after that lock, so what came in meanwhile keeps the session awake.
-- A function, because its plan is then made once per connection: planning costs ten times as much as running it.
-- The shape of an entry is `JournalEntry` in src/store/journal.ts.
CREATE FUNCTION write_journal(entries jsonb)
RETURNS TABLE (written_id text, written_organization text, written_base bigint, written_at timestamptz, written_awake boolean)
LANGUAGE plpgsql AS $function$
BEGIN
RETURN QUERY
WITH input AS (
  SELECT e->>'sessionId' AS session_id, (e->>'epoch')::bigint AS epoch, e->'events' AS events,
         jsonb_array_length(e->'events') AS size, coalesce(e->'session', '{}') AS patch, e->'turn' AS turn,
         e->'asks' AS asks, e->'closeAsks' AS close_asks, e->'inbound' AS inbound, e->'taken' AS taken,
         coalesce(jsonb_array_length(e->'taken'), 0) AS taken_size
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
  INSERT INTO pending_actions (id, session_id, turn_id, type, tool_use_id, tool_name, deadline)
  SELECT a->>'id', b.id, a->>'turnId', a->>'type', a->>'toolUseId', a->>'toolName', (a->>'deadline')::timestamptz
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
