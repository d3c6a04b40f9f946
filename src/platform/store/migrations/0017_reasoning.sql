-- How hard the model is to think: `{"effort": …}`; null: the provider's default, for a session the version's.
ALTER TABLE agent_versions ADD COLUMN reasoning jsonb;
ALTER TABLE sessions ADD COLUMN reasoning jsonb;
