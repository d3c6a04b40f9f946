-- What came of the last login with a stored credential. health: unknown, healthy or needs_attention. health_code: the
-- error that needs attention. checked_at: when that was found out.
ALTER TABLE login_credentials ADD COLUMN health text NOT NULL DEFAULT 'unknown';
ALTER TABLE login_credentials ADD COLUMN health_code text;
ALTER TABLE login_credentials ADD COLUMN checked_at timestamptz;
