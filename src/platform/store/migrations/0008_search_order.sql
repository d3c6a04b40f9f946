-- The newest messages of a subject first: a word that stands in most of them is found without gathering all of them.
CREATE INDEX message_words_by_subject ON message_words (agent_id, subject_id, session_id, sequence);
