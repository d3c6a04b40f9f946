import { spawn } from 'node:child_process';
import { basename, join, matchesGlob } from 'node:path';
import { createInterface } from 'node:readline';
import type { SearchInput, SearchResult } from '../../../src/sandbox/protocol/executor.ts';
import { ExecutorError, fileError } from '../executor-error.ts';
import { withLocated } from '../files/resolve.ts';
import type { Settings } from '../settings.ts';
import { collectMatches } from './matches.ts';

const TIMEOUT_MS = 60_000;

/** Counts all matches and keeps one page. Sorted by path (`names`: newest first), so that pages are consistent. */
export async function searchFiles(settings: Settings, input: SearchInput, signal: AbortSignal): Promise<SearchResult> {
  const place = withLocated(settings.workspace, input.path, ({ fd, relative }) => {
    if (fd === undefined) throw fileError('ENOENT', input.path);
    return relative;
  });
  const result: SearchResult = { totalCount: 0, matches: [], files: [], counts: {}, limitReason: null };
  const take = buildTaker(input, result);
  const child = spawn(settings.rgPath, buildArguments(input, place), {
    cwd: settings.workspace,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < 2000) complaint += chunk.toString('utf8');
  });
  const stop = (reason: string): void => {
    result.limitReason ??= reason;
    child.kill('SIGKILL');
  };
  const onAbort = (): void => stop('aborted');
  const timer = setTimeout(() => stop('search_timeout'), TIMEOUT_MS);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const closed = new Promise<number>((resolve, reject) => {
      child.on('error', (error) =>
        reject(new ExecutorError('internal', 'SPAWN', `could not start ripgrep: ${error.message}`)),
      );
      child.on('close', (code) => resolve(code ?? -1));
    });
    closed.catch(() => undefined);
    for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) take(line);
    const code = await closed;
    // Without a message ripgrep only met unreadable files; it reports a bad pattern.
    if (code === 2 && result.totalCount === 0 && complaint.trim() !== '')
      throw new ExecutorError('input', 'SEARCH', complaint.trim().slice(0, 500));
    return result;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function buildArguments(input: SearchInput, place: string): string[] {
  // ripgrep combines globs with "or", so the second glob for names is checked here
  const glob = input.glob === undefined || input.mode === 'names' ? [] : ['--glob', input.glob];
  const common = ['--no-config', '--no-messages', ...glob];
  const target = ['--', place === '.' ? './' : place];
  const pattern = ['--sort', 'path', '-e', input.pattern];
  switch (input.mode) {
    case 'content':
      return [...common, '--json', '-C', String(input.context), ...pattern, ...target];
    case 'files_only':
      return [...common, '--files-with-matches', ...pattern, ...target];
    case 'count':
      return [...common, '--count', '--with-filename', '--null', ...pattern, ...target];
    case 'names':
      return [...common, '--files', '--sortr', 'modified', '--glob', buildNameGlob(input.pattern), ...target];
  }
}

/** A bare word matches names that end with it; a name with a wildcard or a folder is used as a glob. */
function buildNameGlob(pattern: string): string {
  return /[*?[{/]/.test(pattern) ? pattern : `*${pattern}`;
}

function fitsGlob(path: string, glob: string | undefined): boolean {
  return glob === undefined || matchesGlob(glob.includes('/') ? path : basename(path), glob);
}

function buildTaker(input: SearchInput, result: SearchResult): (line: string) => void {
  const inPage = (index: number): boolean => index >= input.offset && index < input.offset + input.limit;
  if (input.mode === 'content') return collectMatches(input, result, inPage);
  return (line) => {
    if (line === '') return;
    const [path, count] = line.split('\0');
    const name = join(path ?? '');
    if (input.mode === 'names' && !fitsGlob(name, input.glob)) return;
    if (inPage(result.totalCount)) {
      if (count === undefined) result.files.push(name);
      else result.counts[name] = Number(count);
    }
    result.totalCount += 1;
  };
}
