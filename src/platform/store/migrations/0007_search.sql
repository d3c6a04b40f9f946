-- Words of what was said, for search within one subject. Every vector holds the lexeme of its agent and subject, so
-- that the index itself narrows a search down to them; the columns are checked besides.
CREATE TABLE message_words (
  session_id text NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  sequence bigint NOT NULL,
  agent_id text NOT NULL,
  subject_id text NOT NULL,
  role text NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (session_id, sequence)
);
CREATE INDEX message_words_by_word ON message_words USING gin (words);

-- A lexeme that no text gives: text search configurations drop control characters.
CREATE FUNCTION subject_lexeme(agent_id text, subject_id text) RETURNS text LANGUAGE sql IMMUTABLE AS $function$
  SELECT E'\x01' || md5(agent_id || E'\x01' || subject_id)
$function$;

CREATE FUNCTION message_text(payload jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $function$
  SELECT string_agg(block->>'text', E'\n') FROM jsonb_array_elements(payload->'content') AS block
$function$;

-- 100,000 characters of a message are indexed: far below what a vector can hold, so that no append can fail here.
CREATE FUNCTION index_message() RETURNS trigger LANGUAGE plpgsql AS $function$
BEGIN
  INSERT INTO message_words (session_id, sequence, agent_id, subject_id, role, words)
  SELECT NEW.session_id, NEW.sequence, s.agent_id, s.subject_id,
         CASE NEW.type WHEN 'user.message' THEN 'user' ELSE 'assistant' END,
         to_tsvector('english', left(coalesce(message_text(NEW.payload), ''), 100000))
           || array_to_tsvector(ARRAY[subject_lexeme(s.agent_id, s.subject_id)])
  FROM sessions s WHERE s.id = NEW.session_id;
  RETURN NULL;
END
$function$;
CREATE TRIGGER index_message AFTER INSERT ON events FOR EACH ROW
  WHEN (NEW.type IN ('user.message', 'agent.message') AND jsonb_typeof(NEW.payload->'content') = 'array')
  EXECUTE FUNCTION index_message();
