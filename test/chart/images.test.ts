import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'image-'));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const readLines = (path: string): string[] => readFileSync(join(ROOT, path), 'utf8').split('\n');

/** The files that the last stage of a Dockerfile copies from the repository, without those of other stages. */
function copyStage(dockerfile: string, folder: string): void {
  const lines = readLines(dockerfile);
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
  const copies = last
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .map((line) => line.split(' '));
  expect(copies.length).toBeGreaterThan(0);
  for (const [, ...paths] of copies) {
    const target = paths.pop() ?? '';
    for (const path of paths) {
      const to = join(folder, target.endsWith('/') ? join(target, path) : target);
      mkdirSync(join(to, '..'), { recursive: true });
      cpSync(join(ROOT, path), to, { recursive: true });
    }
  }
}

const readEntry = (dockerfile: string): string[] => {
  const line = readLines(dockerfile).find((text) => text.startsWith('ENTRYPOINT ')) ?? '';
  return JSON.parse(line.slice('ENTRYPOINT '.length)) as string[];
};

describe('the image of Capstan', () => {
  let folder: string;
  beforeAll(() => {
    folder = join(scratch, 'app');
    copyStage('Dockerfile', folder);
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  });

  const start = async (args: string[], env: Record<string, string>): Promise<string> => {
    const done = run(process.execPath, args, { cwd: folder, env });
    return done.then(
      ({ stdout }) => stdout,
      (error: unknown) => (error as { stderr: string }).stderr,
    );
  };

  test('holds what its entry point needs', async () => {
    const [program, ...args] = readEntry('Dockerfile');
    expect(program).toBe('node');
    expect(await start([...args, 'api'], {})).toContain('The role api needs what other processes share');
  });

  test('holds the operator and every adapter', async () => {
    const parts = [
      'operator/start',
      'src/platform/db/postgres',
      'src/platform/bus/nats',
      'src/sandbox/kubernetes/kubernetes',
    ];
    const code = parts.map((part) => `await import('./${part}.ts');`).join('');
    expect(await start(['--input-type=module', '--eval', `${code} console.log('loaded');`], {})).toBe('loaded\n');
  });

  test('holds the command line', async () => {
    expect(await start(['src/cli/main.ts', '--help'], {})).toContain('Usage: capstan');
  });

  test('is built from the files that .dockerignore allows', () => {
    const allowed = readLines('.dockerignore').flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    for (const file of ['Dockerfile', 'sandbox-image/Dockerfile']) {
      const copies = readLines(file).filter((line) => line.startsWith('COPY ') && !line.includes('--from='));
      const paths = copies.flatMap((line) => line.split(' ').slice(1, -1));
      const isAllowed = (path: string) => allowed.some((each) => path === each || path.startsWith(`${each}/`));
      expect(paths.filter((path) => !isAllowed(path))).toEqual([]);
    }
  });
});

test.each(['Dockerfile', 'Dockerfile.media', 'sandbox-image/Dockerfile'])(
  '%s ends as a user without privileges',
  (file) => {
    expect(readLines(file).findLast((line) => line.startsWith('USER '))).toBe('USER 1000:1000');
  },
);

test('the sandbox image holds what the executor needs', async () => {
  const folder = join(scratch, 'sandbox');
  copyStage('sandbox-image/Dockerfile', folder);
  const workspace = join(scratch, 'workspace');
  mkdirSync(workspace);
  const [, , program = '', ...options] = readEntry('sandbox-image/Dockerfile');
  expect(program).toMatch(/^\/opt\/capstan\//);
  const args = [
    ...options,
    '--workspace',
    workspace,
    '--state-dir',
    join(scratch, 'state'),
    '--listen',
    `unix:${scratch}/socket`,
  ];
  const child = spawn(program.replace('/opt/capstan', folder), args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}` },
  });
  try {
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    expect(line).toBe('ready');
  } finally {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
  }
});
