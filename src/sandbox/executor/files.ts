import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { readDescribedWrite, readEntryHeader, readError } from './answers.ts';
import type { ExecutorClient } from './client.ts';
import { SILENCE_MS } from './http.ts';
import type { VolumeFiles } from '../sandbox.ts';

export type FilesOptions = {
  /** called with the volume's usage whenever the executor reports it */
  onUsage: (usedBytes: number) => void;
  /** called with each unread body */
  onBody: (body: Readable) => void;
};

/** A volume's files through its executor. Names are literal: `~` is an ordinary name. */
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
      // the HTTP parser enforces this very length
      return { length: Number(body.headers['content-length']), body };
    },
    async openDescribed(path, { maxFileBytes }) {
      const body = await open(path, { maxFileBytes: String(maxFileBytes), describe: 'true' });
      return { entry: readEntryHeader(body), body };
    },
    async write(path, source, { protect, ...options }) {
      const query = new URLSearchParams({ path: absolute(path), describe: 'true' });
      for (const [name, value] of Object.entries(options)) query.set(name, String(value));
      for (const name of protect) query.append('protect', name);
      const target = `/v1/files?${query.toString()}`;
      const response = await client.http.send({ method: 'PUT', path: target, body: source, ...limits });
      if (response.statusCode !== 200) throw await readError(response);
      const result = await readDescribedWrite(response);
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
