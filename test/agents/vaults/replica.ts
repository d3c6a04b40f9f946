/** One replica in its own process: makes an agent's calls to a server, all at once, and prints their results. */
import { openPostgres } from '../../../src/platform/db/postgres.ts';
import { openTestVaults } from '../../support/vaults.ts';

type Work = { database: string; agentId: string; url: string; calls: number };

const { database, agentId, url, calls } = JSON.parse(process.argv[2] ?? '') as Work;
const db = await openPostgres({ url: database, poolSize: 4 });
const { mcp } = openTestVaults(db, { callTimeoutMs: 60_000 });
process.stdout.write('ready\n');
// Both replicas start once both are ready.
await new Promise((resolve) => process.stdin.once('data', resolve));
const outcomes = await Promise.all(
  Array.from({ length: calls }, (_, index) =>
    mcp.call({
      server: { agentId, name: 'test', url },
      scope: `ses_${process.pid}_${index}`,
      operation: 'tool',
      tool: 'echo',
      input: { text: 'hello' },
      signal: new AbortController().signal,
    }),
  ),
);
process.stdout.write(`${JSON.stringify(outcomes)}\n`);
await mcp.close();
await db.close();
process.exit(0);
