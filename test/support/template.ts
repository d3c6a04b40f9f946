import { openPostgres } from '../../src/platform/db/postgres.ts';
import { runMigrations } from '../../src/platform/store/migrate.ts';

export const TEMPLATE = 'capstan_template';

/** The same server, another database. */
export function withDatabase(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).toString();
}

/** Makes the migrated database that every test database is a copy of. */
export async function migrateTemplate(url: string): Promise<void> {
  const server = await openPostgres({ url, poolSize: 1 });
  await server.exec(`CREATE DATABASE ${TEMPLATE}`);
  await server.close();
  const template = await openPostgres({ url: withDatabase(url, TEMPLATE), poolSize: 1 });
  await runMigrations(template);
  await template.close();
}
