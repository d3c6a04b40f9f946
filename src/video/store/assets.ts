// Tests: test/video/catalog.test.ts, test/video/references.test.ts
import type { Queryable } from '../../platform/db/db.ts';
import { encodeJson } from '../../platform/store/json.ts';
import { cutPage, isBehind, readPageCursor, selectKeys } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import { escapeLike } from '../../platform/store/like.ts';

/** The scope of assets that everyone can find. */
export const COMMUNITY = '';

export type StoredAsset = {
  id: string;
  scope: string;
  assetId: string;
  assetType: 'image' | 'video';
  prompt: string;
  modelName: string;
  metadata: Record<string, unknown>;
  objectKey: string;
  at: Date;
};

export type NewAsset = Omit<StoredAsset, 'at'> & { generationId: string };

const COLUMNS = `id, scope, asset_id AS "assetId", asset_type AS "assetType", prompt, model_name AS "modelName", metadata,
  object_key AS "objectKey", at`;

/** Adds an asset to the search as the newest of its scope; an asset that already exists is returned unchanged. */
export async function insertAsset(db: Queryable, asset: NewAsset): Promise<StoredAsset> {
  const { rows } = await db.query<StoredAsset>(
    `INSERT INTO video_assets (id, scope, generation_id, asset_id, asset_type, prompt, model_name, metadata, object_key,
       search_text, at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, statement_timestamp())
     ON CONFLICT (generation_id, scope) DO UPDATE SET scope = excluded.scope RETURNING ${COLUMNS}`,
    [
      asset.id,
      asset.scope,
      asset.generationId,
      asset.assetId,
      asset.assetType,
      asset.prompt,
      asset.modelName,
      encodeJson(asset.metadata),
      asset.objectKey,
      buildSearchText(asset.prompt),
    ],
  );
  return rows[0]!;
}

export async function deleteAsset(db: Queryable, generationId: string, scope: string): Promise<void> {
  await db.query('DELETE FROM video_assets WHERE generation_id = $1 AND scope = $2', [generationId, scope]);
}

/** A page of the caller's own results. */
export async function findOwnResults(
  db: Queryable,
  organizationId: string,
  keys: readonly string[],
): Promise<{ key: string; facts: { width: number; height: number } }[]> {
  const { rows } = await db.query<{ key: string; facts: { width: number; height: number } }>(
    `SELECT video_key AS key, jsonb_build_object('width', request->'width', 'height', request->'height') AS facts
     FROM generations WHERE organization_id = $1 AND video_key = ANY($2::text[]) AND NOT expired`,
    [organizationId, keys],
  );
  return rows;
}

export type AssetSearch = {
  /** 1 to 8 words that must all occur, in any order; case is ignored */
  words: readonly string[];
  scopes: readonly string[];
  type: 'image' | 'video' | null;
} & PageRequest;

type Found = StoredAsset & { page_key?: string[] };

const KEYSET: Keyset = {
  name: 'assets',
  keys: [
    { sql: 'at', type: 'timestamptz' },
    { sql: 'id', type: 'text' },
  ],
  direction: 'DESC',
};
const KEYED = `${COLUMNS}, ${selectKeys(KEYSET)} AS page_key`;

/** How many of a scope's newest assets are scanned before the trigram index is used. */
const NEWEST = 400;
/** The size of the smallest shelf, the factor to the next size, and the number of sizes. */
const SHELF = 16_384;
const LARGER = 4;
const LEVELS = 5;

/** Words that start after punctuation, and every pair of characters in scripts without spaces between words. */
const BEGINNINGS = /(?<=[^\s\p{L}\p{N}])[\p{L}\p{N}]+/gu;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{2,}/gu;

/**
 * The text that searches match: the prompt in lower case with a space before each word, followed by the extra parts
 * that words of two characters match. All of it comes from the prompt, so a search never finds text that is not in it.
 */
export function buildSearchText(prompt: string): string {
  const text = prompt.toLowerCase().split(/\s+/).join(' ');
  const pairs = (text.match(UNSPACED) ?? []).flatMap((run) => {
    const characters = Array.from(run);
    return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  });
  return [` ${text}`, ...new Set([...(text.match(BEGINNINGS) ?? []), ...pairs])].join(' ');
}

/** A word of one or two characters has no trigram, so it matches only the start of words. */
function buildPattern(word: string): string {
  const text = escapeLike(word.toLowerCase());
  return Array.from(word).length < 3 ? `% ${text}%` : `%${text}%`;
}

/**
 * The condition of a search and its parameters from `first` on. One condition per word, because the index does not serve
 * a condition over a list. `$1` is the type.
 */
function buildCondition(search: AssetSearch, first: number): { condition: string; values: string[] } {
  const patterns = search.words.map(buildPattern);
  const behind = readPageCursor(KEYSET, search);
  const parts = [
    ...patterns.map((_, index) => `search_text LIKE $${index + first}`),
    '($1::text IS NULL OR asset_type = $1)',
    ...(behind.length === 0 ? [] : [isBehind(KEYSET, first + patterns.length)]),
  ];
  return { condition: parts.join(' AND '), values: [...patterns, ...behind] };
}

const NEWEST_FIRST = 'ORDER BY at DESC, id DESC';

/**
 * Newest first. Throws `validation_error` for a bad cursor. Common words are found among the newest assets, so the scan
 * ends early. Other words use the trigram index, shelf by shelf from the newest. Both common and rare words stay fast
 * among millions of assets.
 */
export async function searchAssets(db: Queryable, search: AssetSearch): Promise<PageOf<StoredAsset>> {
  const { limit, offset = 0 } = search;
  const needed = offset + limit + 1;
  const { found, behind } = await searchNewest(db, search, needed);
  const all = behind === undefined ? found : await searchShelves(db, search, behind, needed);
  return { total: null, ...cutPage(all.slice(offset), limit, KEYSET) };
}

/**
 * Scans the newest assets of each scope. `behind` lists the shelves to search next, if a scope with more assets had too
 * few matches: older assets might sort in between.
 */
async function searchNewest(
  db: Queryable,
  search: AssetSearch,
  needed: number,
): Promise<{ found: Found[]; behind?: string[][] }> {
  const { scopes, type } = search;
  const { condition, values } = buildCondition(search, 3 + scopes.length);
  // One branch per scope: with a literal scope the planner estimates its size, and uses the index by time.
  const branches = scopes.map((_, branch) => {
    const newest = `FROM video_assets WHERE scope = $${branch + 3} ${NEWEST_FIRST}`;
    return `(SELECT ${branch} AS branch, (SELECT place ${newest} LIMIT 1) AS newest,
         EXISTS (SELECT 1 ${newest} OFFSET ${NEWEST}) AS "isLong", found.*
       FROM (SELECT 1) AS once LEFT JOIN (
         SELECT ${KEYED} FROM (SELECT * ${newest} LIMIT ${NEWEST}) AS newest WHERE ${condition} LIMIT $2
       ) AS found ON true)`;
  });
  const { rows } = await db.query<
    Omit<Found, 'id'> & { id: string | null; branch: number; newest: number | null; isLong: boolean }
  >(`SELECT * FROM (${branches.join(' UNION ALL ')}) AS found ${NEWEST_FIRST}`, [type, needed, ...scopes, ...values]);
  const lists = scopes.map((_, index) => rows.filter(({ branch }) => branch === index));
  if (lists.some((mine) => mine.length < needed && mine[0]?.isLong === true)) {
    const behind = lists.map((mine, index) => {
      const [first] = mine;
      return listShelves(scopes[index]!, first?.newest ?? 0, first?.id === null);
    });
    return { found: [], behind };
  }
  return {
    found: rows.flatMap(({ branch: _branch, newest: _newest, isLong: _isLong, id, ...asset }) =>
      id === null ? [] : [{ id, ...asset }],
    ),
  };
}

async function searchShelves(
  db: Queryable,
  search: AssetSearch,
  shelves: readonly string[][],
  needed: number,
): Promise<Found[]> {
  const { scopes, type } = search;
  const { condition, values } = buildCondition(search, 3 + scopes.length);
  // Rows come in the order of the shelves; a shelf is searched only if the newer ones had too few matches.
  const branches = scopes.map(
    (_, branch) => `(SELECT found.* FROM unnest($${branch + 3}::text[]) AS s (shelf), LATERAL (
       SELECT ${KEYED} FROM video_assets WHERE video_shelves(scope, place) @> ARRAY[s.shelf] AND ${condition}
       ${NEWEST_FIRST} LIMIT $2) AS found LIMIT $2)`,
  );
  const { rows } = await db.query<Found>(
    `SELECT * FROM (${branches.join(' UNION ALL ')}) AS found ${NEWEST_FIRST} LIMIT $2`,
    [type, needed, ...shelves, ...values],
  );
  return rows;
}

/**
 * The shelves that cover every position up to the newest exactly once, named as in the database's `video_shelves`. They
 * start at the newest with a few of each size, from the smallest or, for rare words, from the next. Pure.
 */
export function listShelves(scope: string, newest: number, seemsRare: boolean): string[] {
  const shelves: string[] = [];
  const first = seemsRare ? 1 : 0;
  // Two assets stored at the same time may sort differently by time and by position, so one more shelf is needed. The
  // newest shelves are partly filled. Larger shelves are searched only after a full one had too few matches.
  const least = 3 - first;
  const unit = LARGER ** first;
  let end = Math.ceil((Math.floor(newest / SHELF) + 2) / unit) * unit;
  for (let level = first; end > 0;) {
    const size = LARGER ** level;
    end -= size;
    shelves.push(`${scope}:${level}:${end / size}`);
    const isEnough = level > first || shelves.length >= least;
    if (isEnough && level < LEVELS - 1 && end % (size * LARGER) === 0) level += 1;
  }
  return shelves;
}
