import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Queryable } from '../../src/platform/db/db.ts';

/** Every encoding in which a text may be hidden: plain, base64, hexadecimal. */
function listForms(canary: string): Buffer[] {
  const whole = Buffer.from(canary);
  const base64 = [0, 1, 2].map((skipped) => {
    const bytes = whole.subarray((3 - skipped) % 3);
    return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64'));
  });
  const url = base64.map((form) => Buffer.from(form.toString().replaceAll('+', '-').replaceAll('/', '_')));
  return [whole, ...base64, ...url, Buffer.from(whole.toString('hex')), Buffer.from(encodeURIComponent(canary))];
}

/** Names the places that contain one of the canaries. */
export function openCanaryWatch(canaries: readonly string[]) {
  const forms = canaries.flatMap((canary) => listForms(canary).map((form) => ({ canary, form })));
  const found: string[] = [];
  let looked = 0;
  const watch = {
    /** `place: canary` for every finding */
    found,
    /** number of places that were searched */
    get looked() {
      return looked;
    },
    look(place: string, content: string | Uint8Array) {
      looked += 1;
      const bytes = Buffer.from(content);
      for (const { canary, form } of forms) if (bytes.includes(form)) found.push(`${place}: ${canary}`);
    },
    /** every file below a folder, by content and name */
    lookAtFiles(folder: string) {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        watch.look('a name of a file', path);
        if (entry.isFile()) watch.look(path, readFileSync(path));
      }
    },
    /** every row of every table */
    async lookAtRows(db: Queryable): Promise<string[]> {
      const { rows: tables } = await db.query<{ name: string }>(
        `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
         WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
      );
      for (const { name } of tables) {
        const { rows } = await db.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} t`);
        for (const { row } of rows) watch.look(`a row of ${name}`, row);
      }
      return tables.map(({ name }) => name);
    },
  };
  return watch;
}
