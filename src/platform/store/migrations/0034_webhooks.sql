-- Endpoints that are told of events. `secret`, `previous_secret`: sealed. `failing_since`: no delivery has succeeded since.
CREATE TABLE webhooks (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  url text NOT NULL,
  events text[] NOT NULL,
  description text,
  full_event boolean NOT NULL DEFAULT false,
  enabled boolean NOT NULL DEFAULT true,
  disabled_reason text,
  secret jsonb NOT NULL,
  previous_secret jsonb,
  previous_expires_at timestamptz,
  failing_since timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhooks_by_organization ON webhooks (organization_id, id DESC);

-- The outbox: written in the commit of what it tells. `position` orders the deliveries of one session.
CREATE TABLE webhook_deliveries (
  id text PRIMARY KEY,
  position bigint GENERATED ALWAYS AS IDENTITY,
  webhook_id text NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  organization_id text NOT NULL,
  type text NOT NULL,
  session_id text,
  agent_id text,
  subject_id text,
  event_id text,
  state text NOT NULL DEFAULT 'pending',
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  locked_until timestamptz,
  last_status integer,
  last_error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  delivered_at timestamptz
);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, session_id, position) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, position DESC);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at);

-- The name under which webhooks are told of an event of a session; null: they are not.
CREATE FUNCTION webhook_type(type text) RETURNS text LANGUAGE sql IMMUTABLE AS $function$
  SELECT CASE type
    WHEN 'agent.approval_request' THEN 'approval.requested'
    WHEN 'agent.clarify_request' THEN 'clarify.requested'
    WHEN 'agent.custom_tool_use' THEN 'custom_tool.requested'
    WHEN 'agent.message' THEN type
    WHEN 'session.status_running' THEN type
    WHEN 'session.status_idle' THEN type
    WHEN 'session.title_updated' THEN type
    WHEN 'session.compacted' THEN type END
$function$;

-- As in 0033; also puts deliveries into the outbox.
CREATE OR REPLACE FUNCTION write_journal(entries jsonb)
RETURNS TABLE (written_id text, written_organization text, written_base bigint, written_at timestamptz, written_awake boolean)
LANGUAGE plpgsql AS $function$
BEGIN
RETURN QUERY
WITH input AS (
  SELECT e->>'sessionId' AS session_id, (e->>'epoch')::bigint AS epoch, e->'events' AS events,
         jsonb_array_length(e->'events') AS size, coalesce(e->'session', '{}') AS patch, e->'turn' AS turn,
         e->'asks' AS asks, e->'closeAsks' AS close_asks, e->'inbound' AS inbound, e->'taken' AS taken,
         coalesce(e->'calls', '[]') AS calls,
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
            i.inbound, i.taken, i.calls, coalesce(s.wake_at <= now(), false) AS awake,
            s.agent_id, s.subject_id, coalesce(s.automation_id, '') AS automation_id,
            CASE WHEN s.metadata <> '{}' AND length(s.metadata::text) <= 4096 THEN s.metadata END AS metadata
), written AS (
  INSERT INTO events (session_id, sequence, id, type, turn_id, status, payload, usage, internal, processed_at, created_at)
  SELECT b.id, b.base + v.n, v.e->>'id', v.e->'payload'->>'type', v.e->>'turnId', v.e->>'status', v.e->'payload',
         v.e->'usage', v.e->'internal', CASE WHEN v.e ? 'processed' THEN now() END, now()
  FROM bumped b, jsonb_array_elements(b.events) WITH ORDINALITY AS v (e, n)
), called AS (
  INSERT INTO usage_records (organization_id, occurred_at, source, kind, name, agent_id, subject_id, session_id,
    automation_id, metadata, turn_id, thread_id, step, calls, failures, input_tokens, cached_input_tokens,
    cache_write_tokens, output_tokens, reasoning_tokens, cost_usd, price, started_at, first_token_at, latency_ms,
    retries, error)
  SELECT b.organization_id, now(), 'agents', 'model', c->>'model', b.agent_id, b.subject_id, b.id, b.automation_id,
    b.metadata, c->>'turnId', c->>'threadId', (c->>'step')::int, 1, CASE WHEN c->>'error' IS NULL THEN 0 ELSE 1 END,
    (c->'usage'->>'input')::bigint, (c->'usage'->>'cacheRead')::bigint, (c->'usage'->>'cacheWrite')::bigint,
    (c->'usage'->>'output')::bigint, (c->'usage'->>'reasoning')::bigint, (c->>'costUsd')::float8,
    nullif(c->'price', 'null'), (c->>'startedAt')::timestamptz, (c->>'firstTokenAt')::timestamptz,
    (c->>'latencyMs')::int, (c->>'retries')::int, c->>'error'
  FROM bumped b, jsonb_array_elements(b.calls) AS c
), tooled AS (
  INSERT INTO usage_records (organization_id, occurred_at, source, kind, name, agent_id, subject_id, session_id,
    automation_id, metadata, turn_id, thread_id, tool_calls, failures, sandbox_ms, latency_ms)
  SELECT b.organization_id, now(), 'agents', 'tool', coalesce(v.e->'payload'->>'name', ''), b.agent_id, b.subject_id,
    b.id, b.automation_id, b.metadata, v.e->>'turnId', v.e->'payload'->>'thread_id', 1,
    CASE WHEN v.e->'payload'->'is_error' = 'true' THEN 1 ELSE 0 END,
    CASE WHEN v.e->'payload'->>'type' = 'agent.tool_result' AND v.e->'payload'->>'name' IN ('terminal', 'process',
      'execute_code', 'read_file', 'write_file', 'patch', 'search_files')
      THEN coalesce((v.e->'payload'->>'duration_ms')::numeric, 0)::bigint ELSE 0 END,
    coalesce((v.e->'payload'->>'duration_ms')::numeric, 0)::int
  FROM bumped b, jsonb_array_elements(b.events) AS v (e)
  WHERE v.e->'payload'->>'type' IN ('agent.tool_result', 'agent.mcp_tool_result')
), notified AS (
  INSERT INTO webhook_deliveries (id, webhook_id, organization_id, type, session_id, agent_id, subject_id, event_id)
  SELECT 'msg_' || replace(gen_random_uuid()::text, '-', ''), w.id, b.organization_id, t.type, b.id, b.agent_id,
    b.subject_id, v.e->>'id'
  FROM bumped b JOIN webhooks w ON w.organization_id = b.organization_id AND w.enabled,
    jsonb_array_elements(b.events) WITH ORDINALITY AS v (e, n), webhook_type(v.e->'payload'->>'type') AS t (type)
  WHERE t.type IS NOT NULL AND (t.type = ANY(w.events) OR w.events = '{*}')
  ORDER BY b.id, v.n
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
