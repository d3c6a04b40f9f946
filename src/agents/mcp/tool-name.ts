import { sha256 } from '../../platform/crypto.ts';

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/**
 * The name under which the model knows a server's tool: `<server>__<tool>`, or, where that would be too long, illegal
 * or could stand for another pair, its beginning and a hash of the pair. The same pair always has the same name.
 */
export function buildToolName(server: string, tool: string, forceHash = false): string {
  const plain = `${server}__${tool}`;
  const legal = plain.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  // The first `__` must be ours, so that no two pairs share a plain name.
  const ambiguous = server.includes('__') || server.endsWith('_');
  if (!forceHash && legal === plain && plain.length <= MAX_LENGTH && !ambiguous) return plain;
  const hash = sha256(`${server}\0${tool}`).slice(0, HASH_LENGTH);
  return `${legal.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}
