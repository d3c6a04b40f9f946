-- Sessions with work to do now, whatever the clock said when they became due: see correctFutureTimes.
CREATE INDEX sessions_at_work ON sessions (wake_at) WHERE wake_at IS NOT NULL AND status <> 'waiting_on_human';
