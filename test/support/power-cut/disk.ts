import fs from 'node:fs';
import { join } from 'node:path';
import { deserialize } from 'node:v8';
import { TRACE } from './operations.ts';
import type { Operation } from './operations.ts';

const SECTOR = 512;

export function readTrace(dataDir: string): Operation[] {
  const bytes = fs.readFileSync(join(dataDir, TRACE));
  const operations: Operation[] = [];
  for (let at = 0; at + 4 <= bytes.length;) {
    const length = bytes.readUInt32LE(at);
    operations.push(deserialize(bytes.subarray(at + 4, at + 4 + length)) as Operation);
    at += 4 + length;
  }
  return operations;
}

/** How many operations on names are on the disk: those before the last sync, and some of the later ones, in order. */
function countNamed(operations: readonly Operation[], random: () => number): number {
  const since = operations.reduce(
    (most, operation) => (operation.kind === 'sync' ? Math.max(most, operation.since) : most),
    0,
  );
  return since + Math.floor(random() * (operations.length - since + 1));
}

/**
 * Makes of `folder`, the disk as it was before `operations`, the disk after a loss of power: what was synced is there,
 * what was not is there, torn or lost, as `random` has it. `dataDir` is the folder's name in the operations.
 */
export function cutPower(
  operations: readonly Operation[],
  place: { folder: string; dataDir: string },
  random: () => number,
): void {
  const synced = new Map<number, number>();
  for (const operation of operations) {
    if (operation.kind === 'sync')
      synced.set(operation.file, Math.max(synced.get(operation.file) ?? 0, operation.since));
  }
  const named = countNamed(operations, random);
  const paths = new Map<number, string>();
  const move = (path: string) => place.folder + path.slice(place.dataDir.length);
  operations.forEach((operation, index) => {
    if (operation.kind === 'write' || operation.kind === 'resize') {
      const path = paths.get(operation.file);
      const isSynced = index < (synced.get(operation.file) ?? 0);
      if (path === undefined || (!isSynced && random() < 0.5)) return;
      if (operation.kind === 'resize') return fs.truncateSync(path, operation.size);
      const isTorn = !isSynced && random() < 0.5;
      const sectors = Math.ceil(operation.bytes.length / SECTOR);
      const length = isTorn ? Math.floor(random() * sectors) * SECTOR : operation.bytes.length;
      const file = fs.openSync(path, 'r+');
      fs.writeSync(file, operation.bytes, 0, length, operation.position);
      fs.closeSync(file);
    } else if (operation.kind !== 'sync' && index < named) rename(operation, paths, move);
  });
}

type Named = Extract<Operation, { kind: 'create' | 'rename' | 'unlink' | 'mkdir' | 'rmdir' }>;

function rename(operation: Named, paths: Map<number, string>, move: (path: string) => string): void {
  switch (operation.kind) {
    case 'create': {
      const path = move(operation.path);
      if (!fs.existsSync(path)) fs.writeFileSync(path, '');
      if (fs.statSync(path).isFile()) paths.set(operation.file, path);
      return;
    }
    case 'rename': {
      const [from, to] = [move(operation.from), move(operation.to)];
      fs.renameSync(from, to);
      for (const [file, path] of paths) if (path === from) paths.set(file, to);
      return;
    }
    case 'unlink':
      fs.unlinkSync(move(operation.path));
      for (const [file, path] of paths) if (path === move(operation.path)) paths.delete(file);
      return;
    case 'mkdir':
      fs.mkdirSync(move(operation.path));
      return;
    case 'rmdir':
      fs.rmdirSync(move(operation.path));
  }
}
