import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { makeScratch } from '../../support/scratch.ts';

const SUITE = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const CLIENT = fileURLToPath(new URL('../../support/mcp/conformance-client.ts', import.meta.url));
const folder = makeScratch('conformance');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// The scenarios `auth/*` are omitted: they check discovery, registration, consent or the first grant, which happen
// before a credential is stored here; none checks a refresh. `elicitation-*` needs a person at the client. The
// refresh, and the ways to authenticate the client in it, are tested in test/agents/vaults.
it.each(['initialize', 'tools_call', 'sse-retry'])('the official suite accepts the client in %s', async (scenario) => {
  const command = `${process.execPath} ${CLIENT}`;
  const args = [SUITE, 'client', '--command', command, '--scenario', scenario];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder });
  expect(stdout + stderr).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/);
});
