-- A login that waits for a person's code or link is not under way meanwhile, and is bounded by itself.
ALTER TABLE login_jobs ADD COLUMN waiting boolean NOT NULL DEFAULT false;
