import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { findBreaches, findImports } from './support/architecture.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

it('holds for every source file', () => {
  const paths = execFileSync('git', ['ls-files', '*.ts'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
  const files = paths
    .filter((path) => existsSync(join(ROOT, path)))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
  expect(files.length).toBeGreaterThan(200);
  expect(findBreaches(files)).toEqual([]);
});

it('sees every form of import', () => {
  const text = [
    "import './a.ts';",
    "import type { B } from './b.ts';",
    'import {',
    '  C,',
    "} from './c.ts';",
    "export type { D } from './d.ts';",
    "const e = () => import('./e.ts');",
    "// import './f.ts';",
  ].join('\n');
  expect(findImports(text)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts']);
});

it.each([
  ['src/contract/a.ts', "import { ApiError } from '../errors.ts';", 'may not import src/errors.ts'],
  ['src/contract/a.ts', "import { stringify } from 'yaml';", 'may import zod only, not yaml'],
  ['src/log.ts', "import { openPglite } from './backends/db/pglite.ts';", 'may not import src/backends/db/pglite.ts'],
  ['src/backends/bus/a.ts', "import type { Db } from '../db/db.ts';", 'may not import src/backends/db/db.ts'],
  ['src/store/a.ts', "import type { Bus } from '../backends/bus/bus.ts';", 'may not import src/backends/bus/bus.ts'],
  ['src/inference/a.ts', "import { decide } from '../agent/decide.ts';", 'may not import src/agent/decide.ts'],
  ['src/agent/a.ts', "import { listEvents } from '../store/events.ts';", 'may not import src/store/events.ts'],
  ['src/agent/a.ts', "import { Pool } from 'pg';", 'may not import pg'],
  ['src/api/a.ts', "import { startWorker } from '../worker/start.ts';", 'may not import src/worker/start.ts'],
  ['src/api/a.ts', "import { openNats } from '../backends/bus/nats.ts';", 'may not import src/backends/bus/nats.ts'],
  ['src/worker/a.ts', "import type { Config } from '../config.ts';", 'may not import src/config.ts'],
  ['src/worker/a.ts', "import '../deps.ts';", 'may not import src/deps.ts'],
  ['src/cli/a.ts', "import { createKey } from '../store/keys.ts';", 'may not import src/store/keys.ts'],
  ['operator/a.ts', "import { listEvents } from '../src/store/events.ts';", 'may not import src/store/events.ts'],
  ['sandbox-image/a.ts', "import { Id } from '../src/contract/common.ts';", 'may not import src/contract/common.ts'],
  ['clients/typescript/a.ts', "import { sleep } from 'node:timers';", 'may import nothing, not node:timers'],
  [
    'clients/typescript/a.ts',
    "import { Id } from '../../src/contract/common.ts';",
    'may not import src/contract/common.ts',
  ],
  ['sandbox-image/a.ts', "import { z } from 'zod';", 'may import node: only, not zod'],
  ['src/worker/a.ts', "import { PutObjectCommand } from '@aws-sdk/client-s3';", 'may not import @aws-sdk/client-s3'],
  ['src/elsewhere/a.ts', "import { newId } from '../ids.ts';", 'lies in a folder that the table does not know'],
  ['src/api/a.ts', 'const home = process.env.HOME;', 'reads the environment'],
  ['src/api/a.ts', "console.log('hello');", 'prints'],
  ['src/api/a.ts', 'export default 1;', 'has a default export'],
  ['src/api/index.ts', "export * from './start.ts';", 'exports what is not its own'],
  ['src/api/a.ts', 'const a = 1;\n'.repeat(301), 'has 301 lines, more than 300'],
])('$0: $2', (path, text, breach) => {
  expect(findBreaches([{ path, text }])).toEqual([`${path}: ${breach}`]);
});
