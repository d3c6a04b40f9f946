-- The counts by hour summed up by day (UTC), for queries over long times: kept by the triggers below in the statement that
-- changes `usage_hours`. Reports do not tell tools apart, so their rows have no name. Deleted together with the hours.
CREATE TABLE usage_days (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  day timestamptz NOT NULL,
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
  PRIMARY KEY (organization_id, day, source, kind, name, key_id, agent_id, subject_id, automation_id, user_id)
);

INSERT INTO usage_days (
  organization_id, day, source, kind, name, key_id, agent_id, subject_id, automation_id, user_id, calls, failures,
  input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, tool_calls, sandbox_ms,
  credits, cost_usd, latency_ms, latency_0, latency_1, latency_2, latency_3, latency_4, latency_5, latency_6,
  latency_7, latency_8, latency_9, latency_10, latency_11, latency_12, latency_13, latency_14, latency_15)
SELECT
  c.organization_id, date_trunc('day', c.hour AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', c.source, c.kind,
  CASE WHEN c.kind = 'tool' THEN '' ELSE c.name END, c.key_id, c.agent_id, c.subject_id, c.automation_id, c.user_id,
  sum(c.calls), sum(c.failures), sum(c.input_tokens), sum(c.cached_input_tokens), sum(c.cache_write_tokens),
  sum(c.output_tokens), sum(c.reasoning_tokens), sum(c.tool_calls), sum(c.sandbox_ms), sum(c.credits),
  sum(c.cost_usd), sum(c.latency_ms), sum(c.latency_0), sum(c.latency_1), sum(c.latency_2), sum(c.latency_3),
  sum(c.latency_4), sum(c.latency_5), sum(c.latency_6), sum(c.latency_7), sum(c.latency_8), sum(c.latency_9),
  sum(c.latency_10), sum(c.latency_11), sum(c.latency_12), sum(c.latency_13), sum(c.latency_14), sum(c.latency_15)
FROM usage_hours c GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;

-- Rows are locked in the order of the key, after those of `usage_hours`, so writers cannot deadlock.
CREATE FUNCTION sum_up_usage_days() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
  INSERT INTO usage_days (
    organization_id, day, source, kind, name, key_id, agent_id, subject_id, automation_id, user_id, calls, failures,
    input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, tool_calls, sandbox_ms,
    credits, cost_usd, latency_ms, latency_0, latency_1, latency_2, latency_3, latency_4, latency_5, latency_6,
    latency_7, latency_8, latency_9, latency_10, latency_11, latency_12, latency_13, latency_14, latency_15)
  SELECT
    c.organization_id, date_trunc('day', c.hour AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', c.source, c.kind,
    CASE WHEN c.kind = 'tool' THEN '' ELSE c.name END, c.key_id, c.agent_id, c.subject_id, c.automation_id, c.user_id,
    sum(c.calls), sum(c.failures), sum(c.input_tokens), sum(c.cached_input_tokens), sum(c.cache_write_tokens),
    sum(c.output_tokens), sum(c.reasoning_tokens), sum(c.tool_calls), sum(c.sandbox_ms), sum(c.credits),
    sum(c.cost_usd), sum(c.latency_ms), sum(c.latency_0), sum(c.latency_1), sum(c.latency_2), sum(c.latency_3),
    sum(c.latency_4), sum(c.latency_5), sum(c.latency_6), sum(c.latency_7), sum(c.latency_8), sum(c.latency_9),
    sum(c.latency_10), sum(c.latency_11), sum(c.latency_12), sum(c.latency_13), sum(c.latency_14), sum(c.latency_15)
  FROM new_rows c GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  ON CONFLICT (
    organization_id, day, source, kind, name, key_id, agent_id, subject_id, automation_id, user_id)
  DO UPDATE SET
    calls = usage_days.calls + excluded.calls, failures = usage_days.failures + excluded.failures,
    input_tokens = usage_days.input_tokens + excluded.input_tokens,
    cached_input_tokens = usage_days.cached_input_tokens + excluded.cached_input_tokens,
    cache_write_tokens = usage_days.cache_write_tokens + excluded.cache_write_tokens,
    output_tokens = usage_days.output_tokens + excluded.output_tokens,
    reasoning_tokens = usage_days.reasoning_tokens + excluded.reasoning_tokens,
    tool_calls = usage_days.tool_calls + excluded.tool_calls,
    sandbox_ms = usage_days.sandbox_ms + excluded.sandbox_ms, credits = usage_days.credits + excluded.credits,
    cost_usd = usage_days.cost_usd + excluded.cost_usd, latency_ms = usage_days.latency_ms + excluded.latency_ms,
    latency_0 = usage_days.latency_0 + excluded.latency_0, latency_1 = usage_days.latency_1 + excluded.latency_1,
    latency_2 = usage_days.latency_2 + excluded.latency_2, latency_3 = usage_days.latency_3 + excluded.latency_3,
    latency_4 = usage_days.latency_4 + excluded.latency_4, latency_5 = usage_days.latency_5 + excluded.latency_5,
    latency_6 = usage_days.latency_6 + excluded.latency_6, latency_7 = usage_days.latency_7 + excluded.latency_7,
    latency_8 = usage_days.latency_8 + excluded.latency_8, latency_9 = usage_days.latency_9 + excluded.latency_9,
    latency_10 = usage_days.latency_10 + excluded.latency_10,
    latency_11 = usage_days.latency_11 + excluded.latency_11,
    latency_12 = usage_days.latency_12 + excluded.latency_12,
    latency_13 = usage_days.latency_13 + excluded.latency_13,
    latency_14 = usage_days.latency_14 + excluded.latency_14,
    latency_15 = usage_days.latency_15 + excluded.latency_15;
  RETURN NULL;
END
$function$;
CREATE TRIGGER usage_hours_added AFTER INSERT ON usage_hours REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION sum_up_usage_days();

CREATE FUNCTION sum_up_usage_day_changes() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
  INSERT INTO usage_days (
    organization_id, day, source, kind, name, key_id, agent_id, subject_id, automation_id, user_id, calls, failures,
    input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, tool_calls, sandbox_ms,
    credits, cost_usd, latency_ms, latency_0, latency_1, latency_2, latency_3, latency_4, latency_5, latency_6,
    latency_7, latency_8, latency_9, latency_10, latency_11, latency_12, latency_13, latency_14, latency_15)
  SELECT
    c.organization_id, date_trunc('day', c.hour AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', c.source, c.kind,
    CASE WHEN c.kind = 'tool' THEN '' ELSE c.name END, c.key_id, c.agent_id, c.subject_id, c.automation_id, c.user_id,
    sum(c.calls), sum(c.failures), sum(c.input_tokens), sum(c.cached_input_tokens), sum(c.cache_write_tokens),
    sum(c.output_tokens), sum(c.reasoning_tokens), sum(c.tool_calls), sum(c.sandbox_ms), sum(c.credits),
    sum(c.cost_usd), sum(c.latency_ms), sum(c.latency_0), sum(c.latency_1), sum(c.latency_2), sum(c.latency_3),
    sum(c.latency_4), sum(c.latency_5), sum(c.latency_6), sum(c.latency_7), sum(c.latency_8), sum(c.latency_9),
    sum(c.latency_10), sum(c.latency_11), sum(c.latency_12), sum(c.latency_13), sum(c.latency_14), sum(c.latency_15)
  FROM (
    SELECT
      n.organization_id, n.hour, n.source, n.kind, n.name, n.key_id, n.agent_id, n.subject_id, n.automation_id,
      n.user_id,
      n.calls - o.calls AS calls, n.failures - o.failures AS failures,
      n.input_tokens - o.input_tokens AS input_tokens,
      n.cached_input_tokens - o.cached_input_tokens AS cached_input_tokens,
      n.cache_write_tokens - o.cache_write_tokens AS cache_write_tokens,
      n.output_tokens - o.output_tokens AS output_tokens,
      n.reasoning_tokens - o.reasoning_tokens AS reasoning_tokens, n.tool_calls - o.tool_calls AS tool_calls,
      n.sandbox_ms - o.sandbox_ms AS sandbox_ms, n.credits - o.credits AS credits,
      n.cost_usd - o.cost_usd AS cost_usd, n.latency_ms - o.latency_ms AS latency_ms,
      n.latency_0 - o.latency_0 AS latency_0, n.latency_1 - o.latency_1 AS latency_1,
      n.latency_2 - o.latency_2 AS latency_2, n.latency_3 - o.latency_3 AS latency_3,
      n.latency_4 - o.latency_4 AS latency_4, n.latency_5 - o.latency_5 AS latency_5,
      n.latency_6 - o.latency_6 AS latency_6, n.latency_7 - o.latency_7 AS latency_7,
      n.latency_8 - o.latency_8 AS latency_8, n.latency_9 - o.latency_9 AS latency_9,
      n.latency_10 - o.latency_10 AS latency_10, n.latency_11 - o.latency_11 AS latency_11,
      n.latency_12 - o.latency_12 AS latency_12, n.latency_13 - o.latency_13 AS latency_13,
      n.latency_14 - o.latency_14 AS latency_14, n.latency_15 - o.latency_15 AS latency_15
    FROM new_rows n JOIN old_rows o USING (
      organization_id, hour, source, kind, name, key_id, agent_id, subject_id, automation_id, user_id)
  ) c GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  ON CONFLICT (
    organization_id, day, source, kind, name, key_id, agent_id, subject_id, automation_id, user_id)
  DO UPDATE SET
    calls = usage_days.calls + excluded.calls, failures = usage_days.failures + excluded.failures,
    input_tokens = usage_days.input_tokens + excluded.input_tokens,
    cached_input_tokens = usage_days.cached_input_tokens + excluded.cached_input_tokens,
    cache_write_tokens = usage_days.cache_write_tokens + excluded.cache_write_tokens,
    output_tokens = usage_days.output_tokens + excluded.output_tokens,
    reasoning_tokens = usage_days.reasoning_tokens + excluded.reasoning_tokens,
    tool_calls = usage_days.tool_calls + excluded.tool_calls,
    sandbox_ms = usage_days.sandbox_ms + excluded.sandbox_ms, credits = usage_days.credits + excluded.credits,
    cost_usd = usage_days.cost_usd + excluded.cost_usd, latency_ms = usage_days.latency_ms + excluded.latency_ms,
    latency_0 = usage_days.latency_0 + excluded.latency_0, latency_1 = usage_days.latency_1 + excluded.latency_1,
    latency_2 = usage_days.latency_2 + excluded.latency_2, latency_3 = usage_days.latency_3 + excluded.latency_3,
    latency_4 = usage_days.latency_4 + excluded.latency_4, latency_5 = usage_days.latency_5 + excluded.latency_5,
    latency_6 = usage_days.latency_6 + excluded.latency_6, latency_7 = usage_days.latency_7 + excluded.latency_7,
    latency_8 = usage_days.latency_8 + excluded.latency_8, latency_9 = usage_days.latency_9 + excluded.latency_9,
    latency_10 = usage_days.latency_10 + excluded.latency_10,
    latency_11 = usage_days.latency_11 + excluded.latency_11,
    latency_12 = usage_days.latency_12 + excluded.latency_12,
    latency_13 = usage_days.latency_13 + excluded.latency_13,
    latency_14 = usage_days.latency_14 + excluded.latency_14,
    latency_15 = usage_days.latency_15 + excluded.latency_15;
  RETURN NULL;
END
$function$;
CREATE TRIGGER usage_hours_changed AFTER UPDATE ON usage_hours
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION sum_up_usage_day_changes();
