CREATE INDEX pending_actions_by_id ON pending_actions (id);
