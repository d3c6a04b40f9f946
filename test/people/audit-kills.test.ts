import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditRecord, AuditVerification } from '../../src/platform/contract/audit.ts';
import { openRestarts } from '../support/restarts.ts';
import type { Restarts } from '../support/restarts.ts';

/** `CAPSTAN_AUDIT_KILLS=200` for a long run. */
const KILLS = Number(process.env['CAPSTAN_AUDIT_KILLS'] ?? 4);

let restarts: Restarts;
beforeAll(async () => {
  restarts = await openRestarts('audit-kills');
});
afterAll(() => restarts.close());

const KEY = 'cap_key_of_a_server_that_is_killed';

async function readPage<T>(url: string, path: string): Promise<T> {
  const response = await fetch(url + path, { headers: { 'x-api-key': KEY } });
  return (await response.json()) as T;
}

async function readRecords(url: string): Promise<AuditRecord[]> {
  const all: AuditRecord[] = [];
  let query: string | null = '';
  while (query !== null) {
    const page: { data: AuditRecord[]; pagination: { nextCursor: string | null } } = await readPage(
      url,
      `/v1/audit?limit=100${query}`,
    );
    all.push(...page.data);
    const { nextCursor } = page.pagination;
    query = nextCursor === null ? null : `&cursor=${nextCursor}`;
  }
  return all;
}

async function readVaults(url: string): Promise<{ id: string }[]> {
  const all: { id: string }[] = [];
  for (;;) {
    const page: { data: { id: string }[]; pagination: { hasMore: boolean } } = await readPage(
      url,
      `/v1/vaults?limit=100&offset=${all.length}`,
    );
    all.push(...page.data);
    if (!page.pagination.hasMore) return all;
  }
}

test(
  'after kills there is one record for each change, and the chain is whole',
  async () => {
    for (let round = 0; round < KILLS; round += 1) {
      const { server, url } = await restarts.start();
      let made = 0;
      const enough = 5 + ((round * 7) % 20);
      const create = async () => {
        for (;;) {
          await fetch(`${url}/v1/vaults`, {
            method: 'POST',
            headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
            body: JSON.stringify({ displayName: 'V' }),
          });
          made += 1;
          if (made === enough) server.signal('SIGKILL');
        }
      };
      await Promise.allSettled([create(), create(), create(), create()]);
      await server.ended;
    }
    const { url } = await restarts.start();
    const records = (await readRecords(url)).filter(({ action }) => action === 'createVault');
    const vaults = await readVaults(url);
    const recorded = records.map(({ resource }) => resource.id ?? '');
    expect(recorded.length).toBe(new Set(recorded).size);
    expect(new Set(recorded)).toEqual(new Set(vaults.map(({ id }) => id)));
    expect(records.length).toBeGreaterThan(KILLS * 4);
    expect(await readPage<AuditVerification>(url, '/v1/audit/verify')).toMatchObject({ ok: true, brokenAt: null });
  },
  60_000 + KILLS * 20_000,
);
