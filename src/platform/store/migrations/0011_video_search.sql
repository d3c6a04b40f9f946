-- What searches look through, in lower case: making it from the prompt at every look takes ten times as long, and the
-- database's own lower case knows only the letters of its locale. Empty, and not found, where an earlier release wrote it.
ALTER TABLE video_assets ADD COLUMN search_text text NOT NULL DEFAULT '';
UPDATE video_assets SET search_text = lower(' ' || regexp_replace(prompt, '\s+', ' ', 'g'));
DROP INDEX video_assets_by_text;
CREATE INDEX video_assets_by_text ON video_assets USING gin (search_text gin_trgm_ops);

ALTER TABLE video_templates ADD COLUMN search_text text NOT NULL DEFAULT '';
UPDATE video_templates SET search_text = lower(title || E'\n' || coalesce(description, ''));
