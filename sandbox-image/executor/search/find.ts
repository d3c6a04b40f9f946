// Tests: test/sandbox/port.test.ts
import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { FoundFile } from '../../../src/sandbox/protocol/executor.ts';
import { ExecutorError, fileError } from '../executor-error.ts';
import { MAX_DIGEST_BYTES } from '../files/digest.ts';
import type { Digests } from '../files/digest.ts';
import { describeFile } from '../files/entry.ts';
import { listItems } from '../files/page.ts';
import { locate } from '../files/resolve.ts';
import type { Settings } from '../settings.ts';

const TIMEOUT_MS = 30_000;
const AROUND = 80;

type Request = { query: string; path: string; limit: number };
type Parts = { settings: Settings; digests: Digests };

/**
 * The first entries by path whose name or text contains the literal query. Includes hidden and ignored entries; files
 * that are not UTF-8 text, or over 40 MiB, match by name only. Throws ENOENT, ENOTDIR, ESCAPE.
 */
export async function findFiles(parts: Parts, request: Request, signal: AbortSignal): Promise<FoundFile[]> {
  const found = new Map<string, FoundFile>();
  const byName = (await listItems(parts.settings.workspace, request.path, true))
    .map((item) => item.path)
    .filter((path) => basename(path).includes(request.query))
    .sort(comparePaths)
    .slice(0, request.limit);
  for (const path of byName) found.set(path, { path, inName: true, excerpt: null });
  for (const { path, excerpt } of await findInText(parts, request, signal)) {
    found.set(path, { path, inName: basename(path).includes(request.query), excerpt });
  }
  return [...found.values()].sort((left, right) => comparePaths(left.path, right.path)).slice(0, request.limit);
}

function comparePaths(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

type Hit = { path: string; excerpt: string };

async function findInText({ settings, digests }: Parts, request: Request, signal: AbortSignal): Promise<Hit[]> {
  const root = settings.workspace;
  const folder = locate(root, request.path);
  let child;
  try {
    if (folder.fd === undefined) throw fileError('ENOENT', request.path);
    if (!fstatSync(folder.fd).isDirectory()) throw fileError('ENOTDIR', request.path);
    child = spawn(settings.rgPath, buildArguments(request.query), {
      // Names the folder by descriptor, even if its path has changed. The child inherits the descriptor and resolves it.
      cwd: `/proc/self/fd/${folder.fd}`,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } finally {
    folder.close();
  }
  const stop = (): void => void child.kill('SIGKILL');
  const timer = setTimeout(stop, TIMEOUT_MS);
  signal.addEventListener('abort', stop, { once: true });
  const hits: Hit[] = [];
  try {
    const closed = new Promise<void>((resolve, reject) => {
      child.on('error', (error) =>
        reject(new ExecutorError('internal', 'SPAWN', `could not start ripgrep: ${error.message}`)),
      );
      child.on('close', () => resolve());
    });
    closed.catch(() => undefined);
    let last = '';
    for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
      const cut = line.indexOf('\0');
      const path = join(folder.relative === '.' ? '' : folder.relative, line.slice(0, Math.max(0, cut)));
      if (cut <= 0 || path === last) continue;
      last = path;
      const entry = await describeFile(root, `${root}/${path}`, digests).catch(() => null);
      if (entry?.text === true) hits.push({ path, excerpt: line.slice(cut + 1).trim() });
      if (hits.length === request.limit) break;
    }
    stop();
    await closed;
    return hits;
  } finally {
    clearTimeout(timer);
    stop();
    signal.removeEventListener('abort', stop);
  }
}

/** A pattern instead of a fixed string, so that only the surroundings of a match are printed, not a very long line. */
function buildArguments(query: string): string[] {
  const literal = query.replaceAll(/[\\^$.|?*+()[\]{}#&~-]/g, '\\$&');
  return [
    [
      '--no-config',
      '--no-messages',
      '--hidden',
      '--no-ignore',
      '--no-follow',
      '--encoding',
      'none',
      '--color',
      'never',
    ],
    ['--no-heading', '--with-filename', '--null', '--no-line-number', '--only-matching', '--max-count', '1'],
    ['--max-filesize', String(MAX_DIGEST_BYTES), '--glob', '!.capstan-*.tmp', '--sort', 'path'],
    ['-e', `.{0,${AROUND}}${literal}.{0,${AROUND}}`, '--', './'],
  ].flat();
}
