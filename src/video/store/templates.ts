import type { Queryable } from '../../platform/db/db.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import { escapeLike } from '../../platform/store/like.ts';
import type { Template } from '../contract/catalog.ts';

const COLUMNS = 'id, title, description, kind, model_name';

const OLDEST_FIRST: Keyset = {
  name: 'templates',
  keys: [{ sql: 'position', type: 'bigint' }],
  direction: 'ASC',
};

/** Featured templates in order of creation. Throws `validation_error` for a bad cursor. */
export async function listTemplates(
  db: Queryable,
  page: PageRequest,
  q: string | undefined,
): Promise<PageOf<Template>> {
  const from = 'FROM video_templates WHERE featured AND ($1::text IS NULL OR search_text LIKE $1)';
  const params = [q === undefined ? null : `%${escapeLike(q.toLowerCase())}%`];
  return readPage(db, { columns: COLUMNS, from, params, keyset: OLDEST_FIRST, counted: false }, page);
}

/** Undefined if there is no featured template with this id. */
export async function findTemplate(db: Queryable, id: string): Promise<Template | undefined> {
  const { rows } = await db.query<Template>(`SELECT ${COLUMNS} FROM video_templates WHERE id = $1 AND featured`, [id]);
  return rows[0];
}

/** Creates a template or replaces the one with its id; true if it is new. */
export async function putTemplate(
  db: Queryable,
  template: Template & { featured: boolean },
): Promise<{ template: Template; created: boolean }> {
  const text = `${template.title}\n${template.description ?? ''}`.toLowerCase();
  const { rows } = await db.query<Template & { created: boolean }>(
    `INSERT INTO video_templates (id, title, description, kind, model_name, featured, search_text)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (id) DO UPDATE SET title = excluded.title, description = excluded.description, kind = excluded.kind,
       model_name = excluded.model_name, featured = excluded.featured, search_text = excluded.search_text, updated_at = now()
     RETURNING ${COLUMNS}, xmax = 0 AS created`,
    [template.id, template.title, template.description, template.kind, template.model_name, template.featured, text],
  );
  const { created, ...stored } = rows[0]!;
  return { template: stored, created };
}
