/** What the conformance suite runs: connects to the server it is given, and calls every tool that is there. */
import { pino } from 'pino';
import { openEgress } from '../../../src/platform/egress/egress.ts';
import { openMcp } from '../../../src/agents/mcp/mcp.ts';
import type { Vaults } from '../../../src/agents/vaults/resolve.ts';

const url = process.argv.at(-1) ?? '';
const nobody: Vaults = {
  resolve: async () => ({ status: 'public', used: undefined }),
  readStatuses: async () => new Map(),
};
const egress = openEgress({ allow: ['127.0.0.0/8', '::1'] });
const mcp = openMcp({ egress, vaults: nobody, log: pino({ level: 'silent' }) }, { callTimeoutMs: 20_000 });
const server = { agentId: 'agt_none', name: 'conformance', url };

const { tools } = await mcp.readListing(server);
for (const { name: tool, parameters } of tools) {
  const properties = Object.keys(parameters['properties'] ?? {});
  const input = Object.fromEntries(properties.map((property, index) => [property, index + 1]));
  const { signal } = new AbortController();
  const outcome = await mcp.call({ server, scope: 'conformance', operation: 'tool', tool, input, signal });
  if (outcome.isError) process.exitCode = 1;
  process.stdout.write(`${tool}: ${outcome.content}\n`);
}
await mcp.close();
await egress.close();
