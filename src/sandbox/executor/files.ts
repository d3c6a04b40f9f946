import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { STAT_HEADER } from '../protocol/executor.ts';
import type { FileEntry, FileStat, WriteResult } from '../protocol/executor.ts';
import { readError } from './client.ts';
import type { ExecutorClient } from './client.ts';
import { readBody } from './http.ts';
import type { VolumeFiles } from '../sandbox.ts';

/** A frozen executor harms one call: whoever waits this long in silence gives up. */
export const SILENCE_MS = 60_000;

export type FilesOptions = {
  /** told what the volume holds, whenever the executor tells */
  onUsage: (usedBytes: number) => void;
  /** given each body that is still to be read */
  onBody: (body: Readable) => void;
};

/** The files of a volume through its executor. Names are literal: `~` is a file like any other. */
export function buildVolumeFiles(client: ExecutorClient, { onUsage, onBody }: FilesOptions): VolumeFiles {
  const absolute = (path: string): string => `${client.workspace}/${path}`;
  const limits = { timeoutMs: SILENCE_MS };

  const open = async (path: string, query: Record<string, string>): Promise<IncomingMessage> => {
    const target = `/v1/files?${new URLSearchParams({ path: absolute(path), ...query }).toString()}`;
    const response = await client.http.send({ method: 'GET', path: target, ...limits });
    if (response.statusCode !== 200) throw await readError(response);
    onBody(response);
    return response;
  };

  return {
    describe: async (path) => (await client.call('describe', { path: absolute(path) }, limits)) ?? undefined,
    stat: async (path) => (await client.call('stat', { path: absolute(path) }, limits)) ?? undefined,
    list: (path, page) => client.call('page', { ...page, path: absolute(path) }, limits),
    async open(path, { maxFileBytes, offset, length }) {
      const body = await open(path, {
        maxFileBytes: String(maxFileBytes),
        ...(offset === undefined ? {} : { offset: String(offset) }),
        ...(length === undefined ? {} : { length: String(length) }),
      });
      // what the parser of this very body counts by, so the two cannot differ
      return { length: Number(body.headers['content-length']), body };
    },
    async openDescribed(path, { maxFileBytes }) {
      const body = await open(path, { maxFileBytes: String(maxFileBytes), describe: 'true' });
      return { entry: readHeader<FileEntry>(body), body };
    },
    async write(path, source, { protect, ...options }) {
      const query = new URLSearchParams({ path: absolute(path), describe: 'true' });
      for (const [name, value] of Object.entries(options)) query.set(name, String(value));
      for (const name of protect) query.append('protect', name);
      const target = `/v1/files?${query.toString()}`;
      const response = await client.http.send({ method: 'PUT', path: target, body: source, ...limits });
      if (response.statusCode !== 200) throw await readError(response);
      const result = JSON.parse((await readBody(response)).toString('utf8')) as WriteResult & { entry: FileEntry };
      onUsage(result.usedBytes);
      return result.entry;
    },
    async makeDirectory(path, { protect, createParents }) {
      await client.call('makeDirectory', { path: absolute(path), createParents, protect: [...protect] }, limits);
    },
    async move(from, to, { protect, overwrite }) {
      const input = { from: absolute(from), to: absolute(to), overwrite, protect: [...protect] };
      return (await client.call('move', input, limits)) ?? undefined;
    },
    async copy(from, to, { protect, overwrite, maxFileBytes }) {
      const input = { from: absolute(from), to: absolute(to), overwrite, maxFileBytes, protect: [...protect] };
      await client.call('copy', input, limits);
    },
    async remove(path, { protect, recursive }) {
      await client.call('remove', { path: absolute(path), recursive, protect: [...protect] }, limits);
    },
    find: (path, query, limit, signal) =>
      client.call('find', { path: absolute(path), query, limit }, { signal, ...limits }),
  };
}

function readHeader<T extends FileStat>(response: IncomingMessage): T {
  return JSON.parse(decodeURIComponent(String(response.headers[STAT_HEADER]))) as T;
}
