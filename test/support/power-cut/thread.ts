/** The thread of the embedded database, with a record of what it does to the disk: see `Operation`. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { workerData } from 'node:worker_threads';
import { TRACE } from './operations.ts';
import type { Operation } from './operations.ts';

const { dataDir } = workerData as { dataDir: string };
const original = { ...fs };
const trace = original.openSync(join(dataDir, TRACE), 'w');
const files = new Map<string, number>();
const descriptors = new Map<number, number>();
let lastFile = 0;
let count = 0;

type Unstamped<T> = T extends unknown ? Omit<T, 'at'> : never;

function record(operation: Unstamped<Operation>): void {
  const bytes = serialize({ ...operation, at: process.hrtime.bigint() });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  original.writeSync(trace, Buffer.concat([length, bytes]));
  count += 1;
}

/** The file's number; one that was there before is created by the record, too. */
function numberOf(path: string): number {
  const known = files.get(path);
  if (known !== undefined) return known;
  lastFile += 1;
  files.set(path, lastFile);
  record({ kind: 'create', file: lastFile, path });
  return lastFile;
}

const isOurs = (path: unknown): path is string => typeof path === 'string' && path.startsWith(dataDir);

const patches = {
  openSync(...args: Parameters<typeof fs.openSync>) {
    const [path, flags] = args;
    const descriptor = original.openSync(...args);
    if (!isOurs(path)) return descriptor;
    const file = numberOf(path);
    descriptors.set(descriptor, file);
    if (typeof flags === 'number' && (flags & fs.constants.O_TRUNC) !== 0) record({ kind: 'resize', file, size: 0 });
    return descriptor;
  },
  closeSync(descriptor: number) {
    descriptors.delete(descriptor);
    original.closeSync(descriptor);
  },
  writeSync(descriptor: number, ...[buffer, offset, length, position]: [Uint8Array, number, number, number]) {
    const written = original.writeSync(descriptor, buffer, offset, length, position);
    const file = descriptors.get(descriptor);
    const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset + offset, written).slice();
    if (file !== undefined) record({ kind: 'write', file, position, bytes });
    return written;
  },
  writeFileSync(...args: Parameters<typeof fs.writeFileSync>) {
    original.writeFileSync(...args);
    if (isOurs(args[0])) numberOf(args[0]);
  },
  ftruncateSync(descriptor: number, size: number) {
    original.ftruncateSync(descriptor, size);
    const file = descriptors.get(descriptor);
    if (file !== undefined) record({ kind: 'resize', file, size });
  },
  truncateSync(path: string, size: number) {
    original.truncateSync(path, size);
    if (isOurs(path)) record({ kind: 'resize', file: numberOf(path), size });
  },
  renameSync(from: string, to: string) {
    original.renameSync(from, to);
    const file = numberOf(from);
    files.delete(from);
    files.set(to, file);
    record({ kind: 'rename', from, to });
  },
  unlinkSync(path: string) {
    original.unlinkSync(path);
    files.delete(path);
    record({ kind: 'unlink', path });
  },
  mkdirSync(path: string, ...rest: unknown[]) {
    Reflect.apply(original.mkdirSync, fs, [path, ...rest]);
    if (isOurs(path)) record({ kind: 'mkdir', path });
  },
  rmdirSync(path: string) {
    original.rmdirSync(path);
    record({ kind: 'rmdir', path });
  },
  fsyncSync(descriptor: number) {
    original.fsyncSync(descriptor);
    const file = descriptors.get(descriptor);
    if (file !== undefined) record({ kind: 'sync', file, since: count });
  },
  fdatasyncSync(descriptor: number) {
    patches.fsyncSync(descriptor);
  },
  fdatasync(descriptor: number, done: (error: Error | null) => void) {
    const since = count;
    const file = descriptors.get(descriptor);
    original.fdatasync(descriptor, (error) => {
      if (error === null && file !== undefined) record({ kind: 'sync', file, since });
      done(error);
    });
  },
};
Object.assign(fs, patches);
syncBuiltinESMExports();
await import('../../../src/platform/db/pglite-worker.ts');
