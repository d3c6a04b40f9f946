import type { SandboxSession } from '../../../sandbox/sandbox.ts';
import { extensionOf } from './text.ts';

function stemOf(name: string): string {
  return name.replace(/\.[^.]*$/, '').toLowerCase();
}

function score(wanted: string, name: string): number {
  const a = stemOf(wanted);
  const b = stemOf(name);
  if (a === b) return 90;
  if (b.startsWith(a) || a.startsWith(b)) return 70;
  if (b.includes(a)) return 60;
  if (a.includes(b)) return 40;
  const letters = new Set(a.split(''));
  const shared = [...letters].filter((letter) => b.includes(letter)).length;
  return extensionOf(wanted) === extensionOf(name) && shared >= 0.4 * new Set((a + b).split('')).size ? 30 : 0;
}

/** Up to five similar names in the directory of a missing path; empty if the directory is missing. */
export async function findSimilar(sandbox: SandboxSession, path: string): Promise<string[]> {
  const slash = path.lastIndexOf('/');
  const folder = slash === -1 ? '.' : path.slice(0, slash) || '/';
  const wanted = path.slice(slash + 1);
  try {
    const entries = (await sandbox.listDirectory(folder)).slice(0, 50);
    return entries
      .map((entry) => ({ path: entry.path, score: score(wanted, entry.path.split('/').at(-1) ?? '') }))
      .filter((entry) => entry.score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, 5)
      .map((entry) => entry.path);
  } catch {
    return [];
  }
}
