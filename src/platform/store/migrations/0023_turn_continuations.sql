-- Each time that a worker went on with a turn, as `{ "at", "worker" }`: after an answer, a shutdown or a crash.
ALTER TABLE turns ADD COLUMN continuations jsonb NOT NULL DEFAULT '[]';
