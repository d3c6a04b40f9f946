-- What the gateway has counted: numbers alone, one row per key, model and day (UTC).
CREATE TABLE model_usage (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  key_id text NOT NULL,
  model text NOT NULL,
  day date NOT NULL,
  requests bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,
  input_tokens bigint NOT NULL DEFAULT 0,
  cached_input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  reasoning_tokens bigint NOT NULL DEFAULT 0,
  cost_usd double precision NOT NULL DEFAULT 0,
  latency_ms bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, day, key_id, model)
);
