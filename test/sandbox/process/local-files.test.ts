import { mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openExecutorClient } from '../../../src/sandbox/executor/client.ts';
import { buildVolumeFiles } from '../../../src/sandbox/executor/files.ts';
import { openExecutorLink } from '../../../src/sandbox/executor/link.ts';
import { buildLocalFiles } from '../../../src/sandbox/process/local-files.ts';
import { SandboxError } from '../../../src/sandbox/sandbox.ts';
import { volumeFolder } from '../../../src/sandbox/process/volumes.ts';
import { encodeLinkFrame, openLinkReader } from '../../../src/sandbox/protocol/link.ts';
import type { LinkAnswer, LinkRequest } from '../../../src/sandbox/protocol/link.ts';
import { makeScratch } from '../../support/scratch.ts';
import { newTarget, openLocalSandboxes } from '../../support/sandbox.ts';

const WRITE = { maxBytes: 1e8, overwrite: true, createParents: true, protect: [] };
const BIG = 10_000_000;

describe('files of a volume on this machine', () => {
  it('are not cut short in silence when they become shorter while they are read', async () => {
    const local = await openLocalSandboxes();
    const target = newTarget();
    try {
      const files = await local.sandboxes.openVolume(target, { create: true });
      await files!.write('big', Readable.from([Buffer.alloc(BIG, 'x')]), { ...WRITE, sizeBytes: BIG });
      const { length, body } = await files!.open('big', { maxFileBytes: 1e8 });
      expect(length).toBe(BIG);
      truncateSync(`${volumeFolder(local.dir, target)}/big`, 5_000_000);
      await expect(buffer(body as Readable)).rejects.toThrow('the file has become shorter');
    } finally {
      await local.close();
    }
  });

  it.each([
    ['breaks off', BIG, 1_000_000],
    ['is longer than announced', 1_000_000, BIG],
    ['is shorter than announced', BIG, BIG - 1],
    ['is longer than announced, though small', 10, 11],
  ])('are as they were, with nothing left beside them, when what comes %s', async (_name, announced, sent) => {
    const local = await openLocalSandboxes();
    const target = newTarget();
    try {
      const files = await local.sandboxes.openVolume(target, { create: true });
      await files!.write('f', Readable.from([Buffer.from('old')]), { ...WRITE, sizeBytes: 3 });
      const source = Readable.from([Buffer.alloc(sent, 'x')]);
      await expect(files!.write('f', source, { ...WRITE, sizeBytes: announced })).rejects.toThrow('than was announced');
      const folder = volumeFolder(local.dir, target);
      expect(readdirSync(folder)).toEqual(['f']);
      expect(readFileSync(`${folder}/f`, 'utf8')).toBe('old');
    } finally {
      await local.close();
    }
  });
});

describe('an executor that was taken over', () => {
  let scratch: string;
  let volume: string;
  let server: Server;
  let close: () => void;

  /** Answers the frames of the link, and any other request with `slow`. */
  async function openFiles(answer: (request: LinkRequest) => LinkAnswer | Buffer) {
    const socketPath = `${scratch}/socket`;
    server = createServer((_request, response) => response.writeHead(200, { 'content-length': '4' }).end('slow'));
    server.on('upgrade', (_request, socket) => {
      const read = openLinkReader();
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: capstan-files\r\n\r\n');
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        for (const { id, head } of read(chunk)) {
          const reply = answer(head as LinkRequest);
          socket.write(Buffer.isBuffer(reply) ? reply : encodeLinkFrame(id, reply));
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    const client = openExecutorClient({ target: { socketPath } }, '/workspace');
    const link = openExecutorLink(socketPath, 60_000);
    close = () => {
      client.close();
      link.close();
      server.close();
      server.closeAllConnections();
    };
    const told = { onUsage: () => undefined, onBody: () => undefined };
    const slow = buildVolumeFiles(client, told);
    return buildLocalFiles({ ...told, link, slow, folder: volume, workspace: '/workspace' });
  }

  beforeEach(() => {
    scratch = makeScratch('taken-over');
    volume = `${scratch}/volume`;
    mkdirSync(volume);
    writeFileSync(`${scratch}/secret`, 'secret');
    symlinkSync(`${scratch}/secret`, `${volume}/link`);
    symlinkSync(scratch, `${volume}/folder`);
  });
  afterEach(() => {
    close();
    rmSync(scratch, { recursive: true, force: true });
  });

  it.each(['link', 'folder/secret', '../secret', '/etc/passwd'])(
    'has no file of the machine read: %s',
    async (path) => {
      const stat = { path, type: 'file' as const, sizeBytes: 6, modifiedMs: 0, mode: 0o644 };
      const files = await openFiles(() => ({ read: { stat, whole: false } }));
      const { body } = await files.open('x', { maxFileBytes: 1e8 });
      expect((await buffer(body as Readable)).toString()).toBe('slow');
    },
  );

  it.each(['link', 'folder/secret', '../secret'])('has no file of the machine written: %s', async (path) => {
    const files = await openFiles(({ op }) => (op === 'begin' ? { begun: { write: 1, path } } : { cancelled: true }));
    const source = Readable.from([Buffer.alloc(BIG)]);
    await expect(files.write('x', source, { ...WRITE, sizeBytes: BIG })).rejects.toThrow(SandboxError);
    expect(readFileSync(`${scratch}/secret`, 'utf8')).toBe('secret');
  });

  it.each([
    ['a frame longer than any', Buffer.from('ffffffff00000001', 'hex')],
    ['a head that is no JSON', Buffer.from('00000009000000010000000178', 'hex')],
    ['a head longer than its frame', Buffer.from('0000000900000001000000ff78', 'hex')],
  ])('breaks its own connection by %s', async (_name, bytes) => {
    const files = await openFiles(() => bytes);
    await expect(files.open('x', { maxFileBytes: 1e8 })).rejects.toThrow(SandboxError);
  });
});
