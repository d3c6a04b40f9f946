-- What a turn waits for before it calls its model again: { reason, code, attempt, retryAt }; null when it does not wait.
ALTER TABLE sessions ADD COLUMN waiting jsonb;
