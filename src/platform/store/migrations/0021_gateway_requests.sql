-- One row per model call of the gateway: names and numbers, never content.
CREATE TABLE gateway_requests (
  sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- callers may choose it, so it may repeat
  request_id text NOT NULL,
  created_at timestamptz NOT NULL,
  key_id text NOT NULL,
  format text NOT NULL,
  model text NOT NULL,
  upstream text NOT NULL,
  outcome text NOT NULL,
  input_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  cost_usd double precision NOT NULL,
  latency_ms bigint NOT NULL,
  first_token_ms bigint,
  end_user text,
  tags jsonb NOT NULL
);
CREATE INDEX gateway_requests_newest ON gateway_requests (organization_id, sequence DESC);
CREATE INDEX gateway_requests_by_id ON gateway_requests (organization_id, request_id, sequence DESC);
CREATE INDEX gateway_requests_by_age ON gateway_requests (created_at);
