import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collect, startServer } from './cli/server.ts';
import type { CliServer } from './cli/server.ts';
import { findShellBlocks } from './support/docs.ts';
import { makeScratch } from './support/scratch.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** The server of `make run`, as the pages assume. */
const DOCUMENTED_URL = 'http://127.0.0.1:8080';
/** `make` starts the server; the video needs ffmpeg, and its engine has its own tests. */
const LEFT_OUT = /^(?:\w+=\S+ )?make |\/api\/generations/m;

let server: CliServer;
let folder: string;

beforeAll(async () => {
  server = await startServer();
  folder = makeScratch('docs');
}, 120_000);
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A folder that looks like a checkout with a running server. */
function buildCheckout(name: string): string {
  const checkout = join(folder, name);
  mkdirSync(join(checkout, 'bin'), { recursive: true });
  symlinkSync(join(ROOT, 'bin/capstan'), join(checkout, 'bin/capstan'));
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  symlinkSync(join(ROOT, 'README.md'), join(checkout, 'README.md'));
  symlinkSync(server.dataDir, join(checkout, 'data'));
  return checkout;
}

it.each([
  'README.md',
  'docs/cli.md',
  'docs/sessions-and-events.md',
  'docs/goals.md',
  'docs/files.md',
  'docs/inference-gateway.md',
  'docs/video.md',
])(
  'works when it is pasted from top to bottom: %s',
  async (page) => {
    const blocks = findShellBlocks(readFileSync(join(ROOT, page), 'utf8')).filter((block) => !LEFT_OUT.test(block));
    expect(blocks.length).toBeGreaterThan(3);
    const checkout = buildCheckout(page.replaceAll('/', '-'));
    const script = `set -eu\n${blocks.join('\n')}`.replaceAll(DOCUMENTED_URL, server.url);
    writeFileSync(join(checkout, 'page.sh'), script);
    // Variables that the pages set themselves are not in the environment; only the port differs from `make run`.
    const env = { PATH: process.env['PATH'], HOME: checkout, CAPSTAN_PORT: new URL(server.url).port };
    const { code, out, err } = await collect(spawn('bash', ['page.sh'], { cwd: checkout, env }));
    expect({ code, out, err }).toMatchObject({ code: 0 });
    // curl exits with 0 for API errors: only the pages' own examples of errors are expected.
    const errors = [...out.matchAll(/"error":"(\w+)"/g)].map(([, name]) => name);
    expect(errors.filter((name) => !['validation_error', 'conflict'].includes(name ?? ''))).toEqual([]);
  },
  120_000,
);
