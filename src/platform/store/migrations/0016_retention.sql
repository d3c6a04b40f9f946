-- Set once retention has deleted the log of an archived session; the session itself stays.
ALTER TABLE sessions ADD COLUMN log_deleted_at timestamptz;
CREATE INDEX sessions_to_expire ON sessions (archived_at) WHERE archived_at IS NOT NULL AND log_deleted_at IS NULL;
