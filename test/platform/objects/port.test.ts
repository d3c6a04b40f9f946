import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openFiles } from '../../../src/platform/objects/files.ts';
import type { ObjectInfo, Objects } from '../../../src/platform/objects/objects.ts';
import { openS3 } from '../../../src/platform/objects/s3.ts';
import { findService } from '../../support/find-service.ts';
import { startObjectServer } from '../../support/object-server.ts';
import { makeScratch } from '../../support/scratch.ts';
import { S3_CREDENTIALS } from '../../support/services/s3.ts';

const s3Url = await findService('s3');
const folder = makeScratch('objects');
afterAll(() => rm(folder, { recursive: true }));

const ADAPTERS = [
  {
    name: 's3',
    signsForUs: false,
    installed: s3Url !== undefined,
    open: () => openS3({ url: s3Url ?? '', credentials: S3_CREDENTIALS }),
  },
  {
    name: 's3 that callers do not reach',
    signsForUs: true,
    installed: s3Url !== undefined,
    open: () => openS3({ url: `${s3Url}&private=true`, credentials: S3_CREDENTIALS }),
  },
  { name: 'files', signsForUs: true, installed: true, open: () => openFiles({ dir: folder }) },
];

const PNG = { contentType: 'image/png' };

describe.each(ADAPTERS.filter(({ installed }) => installed))('objects on $name', ({ open, signsForUs }) => {
  let objects: Objects;
  beforeAll(async () => {
    objects = await open();
  });
  afterAll(() => objects.close());

  const newKey = () => `t/${randomBytes(6).toString('hex')}`;
  const read = async (key: string, range?: { start: number; end?: number }) => {
    const object = await objects.get(key, range);
    return object && { ...object, text: (await buffer(object.body)).toString() };
  };
  const listKeys = async (prefix: string) => {
    const infos: ObjectInfo[] = [];
    for await (const info of objects.list(prefix)) infos.push(info);
    return infos.map(({ key }) => key);
  };

  it('returns the stored object, with size and type', async () => {
    const key = `${newKey()}/Photo_1.v2-x.png`;
    const put = await objects.put(key, Buffer.from('hello'), PNG);
    expect(put).toMatchObject({ key, sizeBytes: 5, contentType: 'image/png' });
    expect(put.updatedAt).toBeInstanceOf(Date);
    const got = await read(key);
    expect(got).toMatchObject({ text: 'hello', contentLength: 5 });
    expect(got?.info).toMatchObject({ key, sizeBytes: 5, contentType: 'image/png' });
    expect(await objects.head(key)).toMatchObject({ key, sizeBytes: 5, contentType: 'image/png' });
  });

  it('streams a body of unknown length, larger than one part', async () => {
    const key = newKey();
    const bytes = randomBytes(11 * 1024 * 1024 + 7);
    const chunks = Array.from({ length: Math.ceil(bytes.length / 100_000) }, (_, n) =>
      bytes.subarray(n * 100_000, (n + 1) * 100_000),
    );
    const put = await objects.put(key, Readable.from(chunks), PNG);
    expect(put.sizeBytes).toBe(bytes.length);
    const got = await objects.get(key);
    expect(got?.contentLength).toBe(bytes.length);
    expect((await buffer(got?.body ?? Readable.from([]))).equals(bytes)).toBe(true);
  });

  it.each([
    ['bytes', () => new Uint8Array()],
    ['a stream', () => Readable.from([])],
  ])('keeps an empty object from %s', async (_, body) => {
    const key = newKey();
    expect((await objects.put(key, body(), PNG)).sizeBytes).toBe(0);
    expect(await read(key)).toMatchObject({ text: '', contentLength: 0 });
  });

  it('returns inclusive ranges, cut to the object’s size', async () => {
    const key = newKey();
    await objects.put(key, Buffer.from('0123456789'), PNG);
    expect(await read(key, { start: 2, end: 4 })).toMatchObject({
      text: '234',
      contentLength: 3,
      info: { sizeBytes: 10 },
    });
    expect(await read(key, { start: 7 })).toMatchObject({ text: '789', contentLength: 3, info: { sizeBytes: 10 } });
    expect(await read(key, { start: 8, end: 99 })).toMatchObject({
      text: '89',
      contentLength: 2,
      info: { sizeBytes: 10 },
    });
    expect(await read(key, { start: 10 })).toMatchObject({ text: '', contentLength: 0, info: { sizeBytes: 10 } });
  });

  it('replaces an object, its type too', async () => {
    const key = newKey();
    await objects.put(key, Buffer.from('old and long'), PNG);
    await objects.put(key, Buffer.from('new'), { contentType: 'text/plain' });
    expect(await read(key)).toMatchObject({ text: 'new', info: { sizeBytes: 3, contentType: 'text/plain' } });
  });

  it('keeps the old object when the new body breaks off', async () => {
    const key = newKey();
    await objects.put(key, Buffer.from('old'), PNG);
    async function* breaking() {
      yield Buffer.alloc(9 * 1024 * 1024);
      await Promise.resolve();
      throw new Error('the sender is gone');
    }
    await expect(objects.put(key, Readable.from(breaking()), PNG)).rejects.toThrow('the sender is gone');
    expect(await read(key)).toMatchObject({ text: 'old' });
    expect(await listKeys(key)).toEqual([key]);
  });

  it('returns undefined for a missing object', async () => {
    expect(await objects.get(newKey())).toBeUndefined();
    expect(await objects.get(newKey(), { start: 1 })).toBeUndefined();
    expect(await objects.head(newKey())).toBeUndefined();
  });

  it('deletes exactly one object, and succeeds if it is missing', async () => {
    const key = newKey();
    await objects.put(`${key}/a/b`, Buffer.from('b'), PNG);
    await objects.put(`${key}/c`, Buffer.from('c'), PNG);
    await objects.delete(`${key}/a/b`);
    await objects.delete(`${key}/a/b`);
    await objects.delete(`${key}/nothing`);
    expect(await listKeys(`${key}/`)).toEqual([`${key}/c`]);
    await objects.put(`${key}/a/b`, Buffer.from('again'), PNG);
    expect(await read(`${key}/a/b`)).toMatchObject({ text: 'again' });
  });

  it('lists by prefix, in key order', async () => {
    const key = newKey();
    const names = ['a-1', 'a.b', 'a/1', 'a/b/c', 'a0', 'b', 'B', 'a/2'];
    for (const name of names) await objects.put(`${key}/${name}`, Buffer.from(name), PNG);
    const inOrder = ['B', 'a-1', 'a.b', 'a/1', 'a/2', 'a/b/c', 'a0', 'b'];
    expect(await listKeys(`${key}/`)).toEqual(inOrder.map((name) => `${key}/${name}`));
    expect(await listKeys(`${key}/a/`)).toEqual(['a/1', 'a/2', 'a/b/c'].map((name) => `${key}/${name}`));
    expect(await listKeys(`${key}/a/b`)).toEqual([`${key}/a/b/c`]);
    expect(await listKeys(`${key}/none`)).toEqual([]);
    for await (const info of objects.list(`${key}/a/1`)) expect(info).toMatchObject({ sizeBytes: 3, ...PNG });
  });

  it.each(['', '/a', 'a/', 'a//b', '../a', 'a/../b', './a', 'a/.', 'a b', 'a@type', 'ü', 'a\\b', 'a\0'])(
    'refuses the key %j',
    async (key) => {
      await expect(objects.put(key, Buffer.from('x'), PNG)).rejects.toThrow(TypeError);
      await expect(objects.get(key)).rejects.toThrow(TypeError);
      await expect(objects.head(key)).rejects.toThrow(TypeError);
      await expect(objects.delete(key)).rejects.toThrow(TypeError);
    },
  );

  it('takes many puts of one key at once and keeps one of them whole', async () => {
    const key = newKey();
    const bodies = Array.from({ length: 10 }, (_, n) => String(n).repeat(50_000 + n));
    await Promise.all(bodies.map((body) => objects.put(key, Buffer.from(body), PNG)));
    expect(bodies).toContain((await read(key))?.text);
  });

  describe('signed addresses', () => {
    let server: Awaited<ReturnType<typeof startObjectServer>> | undefined;
    const send = async (address: string, init: RequestInit = {}) => {
      server ??= objects.readSigned === undefined ? undefined : await startObjectServer(objects);
      return fetch(new URL(address, server?.url), init);
    };
    afterAll(() => server?.close());
    const tamper = (address: string, from: string | RegExp, to: string) => {
      const changed = address.replace(from, to);
      expect(changed).not.toBe(address);
      return changed;
    };

    it('are those of the server that callers reach', async () => {
      const address = await objects.sign({ method: 'GET', key: newKey(), expiresInSeconds: 60 });
      expect(URL.canParse(address)).toBe(!signsForUs);
    });

    it('give one object to anybody, whole and in parts', async () => {
      const key = newKey();
      await objects.put(key, Buffer.from('0123456789'), { contentType: 'video/mp4' });
      const address = await objects.sign({ method: 'GET', key, expiresInSeconds: 60, fileName: 'video.mp4' });
      const whole = await send(address);
      expect(whole.status).toBe(200);
      expect(whole.headers.get('content-type')).toBe('video/mp4');
      expect(whole.headers.get('content-disposition')).toContain('video.mp4');
      expect(await whole.text()).toBe('0123456789');
      const part = await send(address, { headers: { range: 'bytes=2-4' } });
      expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 2-4/10', '234']);
      expect((await send(address, { headers: { range: 'bytes=10-' } })).status).toBe(416);
    });

    it('are refused for another object, method or time, and once they have expired', async () => {
      const [key, other] = [newKey(), newKey()];
      for (const each of [key, other]) await objects.put(each, Buffer.from('x'), PNG);
      const address = await objects.sign({ method: 'GET', key, expiresInSeconds: 60 });
      const expires = /[eE]xpires=/.exec(address)?.[0] ?? '';
      for (const changed of [
        tamper(address, key, other),
        tamper(address, /[sS]ignature=.{4}/, (address.match(/[sS]ignature=/)?.[0] ?? '') + 'abcd'),
        tamper(address, expires, `${expires}9`),
      ]) {
        expect((await send(changed)).status).toBe(403);
      }
      expect((await send(address, { method: 'PUT', body: 'y' })).status).toBe(403);
      expect(await read(key)).toMatchObject({ text: 'x' });
      const brief = await objects.sign({ method: 'GET', key, expiresInSeconds: 1 });
      await expect.poll(async () => (await send(brief)).status).toBe(403);
    });

    it('take one object of the type and size that was said', async () => {
      const key = newKey();
      const address = await objects.sign({ method: 'PUT', key, expiresInSeconds: 60, sizeBytes: 5, ...PNG });
      const put = (body: string, type: string) =>
        send(address, { method: 'PUT', body, headers: { 'content-type': type } });
      expect((await put('hello', 'text/html')).ok).toBe(false);
      expect((await put('hello, world', 'image/png')).ok).toBe(false);
      expect(await objects.head(key)).toBeUndefined();
      expect((await send(address)).status).toBe(403);
      expect((await put('hello', 'image/png')).ok).toBe(true);
      expect(await read(key)).toMatchObject({ text: 'hello', info: { contentType: 'image/png' } });
    });
  });

  it('answers a ping', async () => {
    await expect(objects.ping()).resolves.toBeUndefined();
  });
});
