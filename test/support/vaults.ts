import { pino } from 'pino';
import type { Db } from '../../src/platform/db/db.ts';
import { openEgress } from '../../src/platform/egress/egress.ts';
import { buildMasterKeys } from '../../src/platform/master-key.ts';
import { openMcp } from '../../src/agents/mcp/mcp.ts';
import { openVaults } from '../../src/agents/vaults/resolve.ts';

/** The master key of tests. */
export const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

/** Vaults of a test, whose requests reach servers of this machine. */
export function openTestVaults(
  db: Db,
  { callTimeoutMs = 3000, listTimeoutMs = 10_000 }: { callTimeoutMs?: number; listTimeoutMs?: number } = {},
) {
  const masterKeys = buildMasterKeys(MASTER_KEY);
  const egress = openEgress({ allow: ['127.0.0.0/8'] });
  const log = pino({ level: 'silent' });
  const vaults = openVaults({ db, egress, masterKeys, log });
  const mcp = openMcp({ egress, vaults, log }, { callTimeoutMs, listTimeoutMs });
  const mcpCatalog = [{ id: 'tools', name: 'tools', url: 'http://127.0.0.1:1/mcp', authentication: 'none' as const }];
  return { egress, masterKeys, vaults, mcp, mcpCatalog };
}
