import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { findBreaches, findImports } from './support/architecture.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

it('holds for every source file', () => {
  const paths = execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
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
  ['src/platform/contract/a.ts', "import { ApiError } from '../errors.ts';", 'may not import src/platform/errors.ts'],
  ['src/agents/contract/a.ts', "import { newId } from '../../platform/ids.ts';", 'may not import src/platform/ids.ts'],
  ['src/video/contract/a.ts', "import { stringify } from 'yaml';", 'may import zod only, not yaml'],
  ['src/platform/log.ts', "import { openPglite } from './db/pglite.ts';", 'may not import src/platform/db/pglite.ts'],
  ['src/platform/bus/a.ts', "import type { Db } from '../db/db.ts';", 'may not import src/platform/db/db.ts'],
  ['src/platform/http/a.ts', "import { start } from '../../video/open.ts';", 'may not import src/video/open.ts'],
  ['src/platform/store/a.ts', "import type { Bus } from '../bus/bus.ts';", 'may not import src/platform/bus/bus.ts'],
  ['src/inference/a.ts', "import { runTurn } from '../agents/loop/a.ts';", 'may not import src/agents/loop/a.ts'],
  ['src/sandbox/a.ts', "import { runTurn } from '../agents/loop/a.ts';", 'may not import src/agents/loop/a.ts'],
  ['src/sandbox/protocol/a.ts', "import { newId } from '../../platform/ids.ts';", 'may not import src/platform/ids.ts'],
  [
    'src/agents/loop/a.ts',
    "import { listEvents } from '../store/events.ts';",
    'may not import src/agents/store/events.ts',
  ],
  ['src/agents/loop/a.ts', "import { Pool } from 'pg';", 'may not import pg'],
  ['src/agents/api/a.ts', "import { startWorker } from '../worker/a.ts';", 'may not import src/agents/worker/a.ts'],
  [
    'src/agents/api/a.ts',
    "import { openNats } from '../../platform/bus/nats.ts';",
    'may not import src/platform/bus/nats.ts',
  ],
  [
    'src/agents/worker/a.ts',
    "import { open } from '../../roles/config/config.ts';",
    'may not import src/roles/config/config.ts',
  ],
  ['src/video/a.ts', "import { findLogin } from '../login/login.ts';", 'may not import src/login/login.ts'],
  [
    'src/gateway/a.ts',
    "import { listEvents } from '../agents/store/events.ts';",
    'may not import src/agents/store/events.ts',
  ],
  [
    'src/cli/a.ts',
    "import { createKey } from '../platform/store/keys.ts';",
    'may not import src/platform/store/keys.ts',
  ],
  [
    'src/console/page/a.tsx',
    "import { VERSION } from '../../platform/contract/version.ts';",
    'may not import src/platform/contract/version.ts',
  ],
  ['src/agents/api/a.ts', "import { useState } from 'react';", 'may not import react'],
  ['operator/a.ts', "import { listEvents } from '../src/agents/store/a.ts';", 'may not import src/agents/store/a.ts'],
  [
    'sandbox-image/a.ts',
    "import { Id } from '../src/platform/contract/a.ts';",
    'may not import src/platform/contract/a.ts',
  ],
  ['sandbox-image/a.ts', "import { z } from 'zod';", 'may import node: only, not zod'],
  ['clients/typescript/a.ts', "import { sleep } from 'node:timers';", 'may import nothing, not node:timers'],
  [
    'clients/typescript/a.ts',
    "import { Id } from '../../src/platform/contract/a.ts';",
    'may not import src/platform/contract/a.ts',
  ],
  ['src/agents/worker/a.ts', "import { S3Client } from '@aws-sdk/client-s3';", 'may not import @aws-sdk/client-s3'],
  [
    'src/elsewhere/a.ts',
    "import { newId } from '../platform/ids.ts';",
    'lies in a folder that the table does not know',
  ],
  ['src/agents/api/a.ts', 'const home = process.env.HOME;', 'reads the environment'],
  ['src/agents/api/a.ts', "console.log('hello');", 'prints'],
  ['src/agents/api/a.ts', 'export default 1;', 'has a default export'],
  ['src/console/page/a.ts', 'const use = event.payload as ToolUse;', 'casts the payload of an event'],
  ['src/agents/loop/a.ts', 'const { step } = event.internal! as StepPosition;', 'casts the payload of an event'],
  ['src/cli/a.ts', 'return (event.payload) as unknown as T;', 'casts the payload of an event'],
  ['src/agents/api/index.ts', "export * from './start.ts';", 'exports what is not its own'],
  ['src/agents/api/a.ts', 'const a = 1;\n'.repeat(301), 'has 301 lines, more than 300'],
])('$0: $2', (path, text, breach) => {
  expect(findBreaches([{ path, text }])).toEqual([`${path}: ${breach}`]);
});
