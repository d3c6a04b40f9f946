-- previous_*: the secret before the last rotation, which works on for a grace period.
ALTER TABLE api_keys
  ADD COLUMN expires_at timestamptz,
  -- names of models with `*`; null: all
  ADD COLUMN models text[],
  ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}',
  -- null: the server's limit
  ADD COLUMN tokens_per_day bigint,
  ADD COLUMN last_used_at timestamptz,
  ADD COLUMN previous_sha256 text UNIQUE,
  ADD COLUMN previous_expires_at timestamptz;
