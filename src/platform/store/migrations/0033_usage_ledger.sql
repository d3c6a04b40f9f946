-- The usage ledger: one row for each model call, tool call, video and login, never changed but for `rolled`. Numbers and
-- ids alone. `name`: the model, or the tool. Empty text stands for what does not apply. `price`: as it was at the call.
CREATE TABLE usage_records (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  occurred_at timestamptz NOT NULL,
  source text NOT NULL,
  kind text NOT NULL,
  name text NOT NULL DEFAULT '',
  key_id text NOT NULL DEFAULT '',
  agent_id text NOT NULL DEFAULT '',
  subject_id text NOT NULL DEFAULT '',
  session_id text NOT NULL DEFAULT '',
  automation_id text NOT NULL DEFAULT '',
  user_id text NOT NULL DEFAULT '',
  metadata jsonb,
  turn_id text,
  thread_id text,
  step integer,
  calls integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  input_tokens bigint NOT NULL DEFAULT 0,
  cached_input_tokens bigint NOT NULL DEFAULT 0,
  cache_write_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  reasoning_tokens bigint NOT NULL DEFAULT 0,
  tool_calls integer NOT NULL DEFAULT 0,
  sandbox_ms bigint NOT NULL DEFAULT 0,
  credits double precision NOT NULL DEFAULT 0,
  cost_usd double precision,
  price jsonb,
  started_at timestamptz,
  first_token_at timestamptz,
  latency_ms integer NOT NULL DEFAULT 0,
  retries integer NOT NULL DEFAULT 0,
  error text,
  rolled boolean NOT NULL DEFAULT false
);
CREATE INDEX usage_records_new ON usage_records (organization_id, occurred_at) WHERE NOT rolled;
CREATE INDEX usage_records_by_time ON usage_records (organization_id, occurred_at);
CREATE INDEX usage_records_by_session ON usage_records (session_id, id) WHERE session_id <> '';

-- The ledger by hour, for queries over long times. A row of the ledger counts here once it is `rolled`, and only then.
-- `latency_0` to `latency_15`: calls that took less than 64, 128, … ms.
CREATE TABLE usage_hours (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  hour timestamptz NOT NULL,
  source text NOT NULL,
  kind text NOT NULL,
  name text NOT NULL,
  key_id text NOT NULL,
  agent_id text NOT NULL,
  subject_id text NOT NULL,
  automation_id text NOT NULL,
  user_id text NOT NULL,
  calls bigint NOT NULL,
  failures bigint NOT NULL,
  input_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  tool_calls bigint NOT NULL,
  sandbox_ms bigint NOT NULL,
  credits double precision NOT NULL,
  cost_usd double precision NOT NULL,
  latency_ms bigint NOT NULL,
  latency_0 bigint NOT NULL,
  latency_1 bigint NOT NULL,
  latency_2 bigint NOT NULL,
  latency_3 bigint NOT NULL,
  latency_4 bigint NOT NULL,
  latency_5 bigint NOT NULL,
  latency_6 bigint NOT NULL,
  latency_7 bigint NOT NULL,
  latency_8 bigint NOT NULL,
  latency_9 bigint NOT NULL,
  latency_10 bigint NOT NULL,
  latency_11 bigint NOT NULL,
  latency_12 bigint NOT NULL,
  latency_13 bigint NOT NULL,
  latency_14 bigint NOT NULL,
  latency_15 bigint NOT NULL,
  PRIMARY KEY (organization_id, hour, source, kind, name, key_id, agent_id, subject_id, automation_id, user_id)
);

-- What the gateway counted by day before there was a ledger: it stands at the first hour of the day.
INSERT INTO usage_hours (organization_id, hour, source, kind, name, key_id, agent_id, subject_id, automation_id, user_id,
  calls, failures, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, tool_calls,
  sandbox_ms, credits, cost_usd, latency_ms, latency_0, latency_1, latency_2, latency_3, latency_4, latency_5, latency_6, latency_7, latency_8, latency_9, latency_10, latency_11, latency_12, latency_13, latency_14, latency_15)
SELECT organization_id, day::timestamp AT TIME ZONE 'UTC', 'gateway', 'model', model, key_id, '', '', '', '', requests, failures,
  input_tokens, cached_input_tokens, 0, output_tokens, reasoning_tokens, 0, 0, 0, cost_usd, latency_ms,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
FROM model_usage;
DROP TABLE model_usage;

-- As in 0031; also writes the ledger: the entry's model calls, and the results of tools among its events.
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
