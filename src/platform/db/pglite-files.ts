import { fsyncSync } from 'node:fs';
import { join } from 'node:path';

import { NodeFS } from '@electric-sql/pglite/nodefs';

import type { WalSync } from './wal-sync.ts';

type Node = { name: string; parent: Node; mount: { opts: { root: string } } };
type Stream = { node: Node; nfd: number };

/** The parts of Emscripten's NODEFS that are replaced here. */
type NodeFileSystem = {
  realPath: (node: Node) => string;
  tryFSOperation: <T>(work: () => T) => T;
  stream_ops: {
    write: (stream: Stream, ...rest: unknown[]) => number;
    fsync?: (stream: Stream) => number;
  };
  node_ops: {
    rename: (node: Node, folder: Node, name: string) => void;
    unlink: (folder: Node, name: string) => void;
    rmdir: (folder: Node, name: string) => void;
    setattr: (node: Node, attributes: { size?: number }) => void;
  };
};

const WAL_FOLDER = 'pg_wal';

/** A name without a folder of its own below `pg_wal`: a segment, or one that is being made. */
function isWal(node: Node): boolean {
  return node.parent.name === WAL_FOLDER;
}

/**
 * PGlite's adapter to the disk, which by itself never syncs. PostgreSQL's own calls of fsync reach the disk here: at once
 * for data files and folders, in groups for the WAL (see `WalSync`). Without `sync` nothing is synced.
 */
export class SyncedNodeFS extends NodeFS {
  readonly #sync: WalSync | undefined;
  #walBytes = 0;

  constructor(dataDir: string, sync: WalSync | undefined) {
    super(dataDir);
    this.#sync = sync;
  }

  /** Bytes written to the WAL since the last call. */
  takeWalBytes(): number {
    const bytes = this.#walBytes;
    this.#walBytes = 0;
    return bytes;
  }

  override async init(...[pg, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options);
    const install = (module: { NODEFS: unknown }) => {
      // Emscripten's type of a file system names its mount alone.
      const files = module.NODEFS as NodeFileSystem;
      this.#countWal(files);
      if (this.#sync !== undefined) this.#syncThrough(files, this.#sync);
    };
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), install] } };
  }

  #countWal({ stream_ops }: NodeFileSystem): void {
    const { write } = stream_ops;
    stream_ops.write = (stream, ...rest) => {
      const written = write(stream, ...rest);
      if (isWal(stream.node)) this.#walBytes += written;
      return written;
    };
  }

  #syncThrough(files: NodeFileSystem, sync: WalSync): void {
    const { stream_ops, node_ops, realPath, tryFSOperation } = files;
    const flush = () => tryFSOperation(() => sync.flush());
    const { write } = stream_ops;
    const { rename, unlink, rmdir, setattr } = node_ops;
    stream_ops.fsync = (stream) => {
      if (isWal(stream.node)) tryFSOperation(() => sync.mark(realPath(stream.node)));
      else {
        flush();
        tryFSOperation(() => fsyncSync(stream.nfd));
      }
      return 0;
    };
    stream_ops.write = (stream, ...rest) => {
      if (!isWal(stream.node)) flush();
      return write(stream, ...rest);
    };
    node_ops.rename = (node, folder, name) => {
      tryFSOperation(() => sync.forget(realPath(node)));
      tryFSOperation(() => sync.forget(join(realPath(folder), name)));
      rename(node, folder, name);
    };
    node_ops.unlink = (folder, name) => {
      tryFSOperation(() => sync.forget(join(realPath(folder), name)));
      unlink(folder, name);
    };
    node_ops.rmdir = (folder, name) => {
      flush();
      rmdir(folder, name);
    };
    node_ops.setattr = (node, attributes) => {
      if (attributes.size !== undefined) flush();
      setattr(node, attributes);
    };
  }
}
