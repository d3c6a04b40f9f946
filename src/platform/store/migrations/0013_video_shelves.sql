-- Searches look through a scope shelf by shelf, newest first, until they have enough: so what is common is found in the
-- newest, and what is rare has few hits on those behind it, which are larger. `place` counts up within a scope, in the order of `at`.
ALTER TABLE video_assets ADD COLUMN place bigint;
UPDATE video_assets a SET place = counted.place
FROM (SELECT id, row_number() OVER (PARTITION BY scope ORDER BY at, id) - 1 AS place FROM video_assets) AS counted
WHERE counted.id = a.id;
ALTER TABLE video_assets ALTER COLUMN place SET NOT NULL;

-- Here, so that what a release of before writes has its place, too. Two that are stored at once may have the same.
CREATE FUNCTION place_video_asset() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last record;
BEGIN
  SELECT place, at INTO last FROM video_assets WHERE scope = NEW.scope ORDER BY at DESC, id DESC LIMIT 1;
  NEW.place := coalesce(last.place, -1) + 1;
  NEW.at := greatest(NEW.at, last.at);
  RETURN NEW;
END $$;
CREATE TRIGGER video_assets_placed BEFORE INSERT ON video_assets
  FOR EACH ROW WHEN (NEW.place IS NULL) EXECUTE FUNCTION place_video_asset();

-- The shelves that a place is on: of 16,384 places, and of four, sixteen … times as many.
CREATE FUNCTION video_shelves(scope text, place bigint) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ARRAY[scope || ':0:' || (place / 16384)::text, scope || ':1:' || (place / 65536)::text,
    scope || ':2:' || (place / 262144)::text, scope || ':3:' || (place / 1048576)::text,
    scope || ':4:' || (place / 4194304)::text]
$$;
DROP INDEX video_assets_by_text;
-- What is written goes into the index at once: a list of what is still to go in would be read by every search.
CREATE INDEX video_assets_by_text ON video_assets
  USING gin (video_shelves(scope, place), search_text gin_trgm_ops) WITH (fastupdate = off);
