import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Character } from '../../src/video/contract/catalog.ts';
import { openStoryboard } from '../../src/video/engines/storyboard/engine.ts';
import { SMALL, findLedgerFaults, probeVideo, startVideo } from './harness.ts';
import type { TestVideo } from './harness.ts';

const draw = (width: number, height: number, background = '#a03050') =>
  sharp({ create: { width, height, channels: 3, background } });

describe('references', () => {
  let video: TestVideo;
  let site: ReturnType<typeof createServer>;
  let address: string;
  beforeAll(async () => {
    const png = await draw(200, 100).png().toBuffer();
    site = createServer((request, response) => {
      if (request.url === '/ada.png') return void response.writeHead(200, { 'content-type': 'image/png' }).end(png);
      if (request.url === '/text') return void response.writeHead(200).end('no image at all');
      return void response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
    address = `http://${host}`;
    video = await startVideo({ engines: [openStoryboard()], allow: [host] });
  });
  afterAll(async () => {
    site.close();
    await video.close();
  });

  const submit = (body: Record<string, unknown>, key?: string) =>
    video.call('POST', '/api/generations', { body: { ...SMALL, ...body }, ...(key === undefined ? {} : { key }) });
  const read = async (key: string) => {
    const object = await video.ports.objects.get(key);
    const chunks: Buffer[] = [];
    for await (const chunk of object!.body) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  };

  const listCopies = async (key: string) => {
    const copies: string[] = [];
    for await (const object of video.ports.objects.list(`${key}.`)) copies.push(object.key);
    return copies;
  };

  it('of every kind go into the video, and the first picture decides an open aspect ratio', async () => {
    const tall = await draw(300, 500)
      .jpeg()
      .withExif({ IFD0: { Copyright: 'Somebody at home' } })
      .toBuffer();
    const start = await video.upload(tall, 'image/jpeg');
    const [id] = await video.submit({ ...SMALL, startFrameKey: start, ingredientImageKeys: [start] });
    const done = await video.finish(id!);
    expect(done).toMatchObject({ status: 'completed', aspect_ratio: '9:16', width: 480, height: 854 });
    expect((await sharp(await read(start)).metadata()).exif).toBeDefined();
    const [copy, ...more] = await listCopies(start);
    expect(more).toEqual([]);
    expect((await sharp(await read(copy!)).metadata()).exif).toBeUndefined();

    // A result of one's own is a reference, too.
    const edited = await submit({ sourceVideoKey: done.asset_s3_key });
    expect(edited.body).toMatchObject({ data: { variant: 'video-to-video' } });
    const { data } = edited.body as { data: { generations: { id: string }[] } };
    const second = await video.finish(data.generations[0]!.id);
    expect(second).toMatchObject({ status: 'completed', aspect_ratio: '9:16' });
    const bytes = new Uint8Array(await (await fetch(second.video_url!)).arrayBuffer());
    expect((await probeVideo(bytes)).streams[0]).toMatchObject({ width: 480, height: 854 });
    expect(await findLedgerFaults(video.ports)).toEqual([]);
  });

  it('of a wrong type end in invalid_reference', async () => {
    const text = await video.upload(Buffer.from('#EXTM3U\nfile:///etc/passwd'), 'image/png');
    const image = await video.upload(await draw(64, 64).png().toBuffer(), 'image/png');
    const { body: unused } = await video.call<{ data: { s3_key: string } }>('POST', '/api/uploads', {
      body: { filename: 'never.png', contentType: 'image/png', sizeBytes: 10 },
    });
    const own = await video.makeKey('stranger');
    const refused = [
      [{ startFrameKey: text }, 'startFrameKey'],
      [{ sourceVideoKey: image }, 'sourceVideoKey'],
      [{ audioKey: image }, 'audioKey'],
      [{ startFrameKey: image, audioKey: image }, 'audioKey'],
      [{ ingredientImageKeys: [image, text] }, 'ingredientImageKeys[1]'],
      [{ startFrameKey: unused.data.s3_key }, 'startFrameKey'],
      [{ startFrameKey: '../../etc/passwd' }, 'startFrameKey'],
    ] as const;
    for (const [body, field] of refused) {
      const answer = await submit(body);
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_reference' } });
      expect(answer.body['message']).toContain(`${field}: `);
    }
    const foreign = await submit({ startFrameKey: image }, own);
    expect(foreign).toMatchObject({ status: 400, body: { error: 'invalid_reference' } });
    expect((await submit({ startFrameKey: image })).status).toBe(202);
  });

  it('are accepted only with the declared type, within the limits', async () => {
    const upload = (body: unknown) => video.call('POST', '/api/uploads', { body });
    for (const body of [
      {},
      { filename: 'x', contentType: 'text/html', sizeBytes: 1 },
      { filename: 'x', contentType: 'image/png', sizeBytes: 0 },
      { filename: 'x', contentType: 'image/png', sizeBytes: 20 * 1024 ** 2 + 1 },
    ]) {
      expect(await upload(body)).toMatchObject({
        status: 400,
        body: { error: 'validation_error' },
      });
    }
    const answer = await upload({ filename: '../ü nice.png', contentType: 'image/png', sizeBytes: 3 });
    expect(answer.status).toBe(201);
    const { data } = answer.body as { data: { upload_url: string; s3_key: string; max_bytes: number } };
    expect(data.s3_key).toMatch(/^uploads\/upl_\w+\/nice\.png$/);
    const put = (bytes: string, type: string) =>
      fetch(data.upload_url, { method: 'PUT', body: bytes, headers: { 'content-type': type } });
    expect((await put('12345', 'image/png')).ok).toBe(false);
    expect((await put('123', 'text/html')).ok).toBe(false);
    // A refused body uses nothing up, an accepted one uses up the address.
    const race = await Promise.all([put('123', 'image/png'), put('123', 'image/png')]);
    expect(race.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 409]));
    expect((await put('abc', 'image/png')).status).toBe(409);
  });

  describe('of characters', () => {
    const create = (body: unknown) => video.call<{ data: Character }>('POST', '/api/characters', { body });

    it('come from addresses or files, and lose their metadata', async () => {
      const fromUrl = await create({ name: 'Ada', description: 'Keeper', images: [`${address}/ada.png`] });
      expect(fromUrl.status).toBe(201);
      expect(fromUrl.body.data).toEqual({
        id: expect.stringMatching(/^chr_/) as string,
        name: 'Ada',
        description: 'Keeper',
        created_at: expect.any(Number) as number,
        image_keys: [expect.any(String) as string],
      });
      const form = new FormData();
      form.append('name', 'Bob');
      for (const field of ['images', 'images[]']) {
        form.append(field, new Blob([new Uint8Array(await draw(99, 50).webp().toBuffer())]), 'bob.webp');
      }
      const fromFiles = await create(form);
      expect(fromFiles.body.data).toMatchObject({ name: 'Bob', description: null });
      expect(fromFiles.body.data.image_keys).toHaveLength(2);
      const list = await video.call('GET', '/api/characters?limit=1');
      expect(list.body).toMatchObject({
        data: [{ id: fromFiles.body.data.id }],
        pagination: { offset: 0, limit: 1, has_more: true },
      });
      const used = await submit({ characterReferenceImageKeys: fromFiles.body.data.image_keys });
      expect(used.body).toMatchObject({ data: { variant: 'reference-to-video' } });
      const stranger = await video.makeKey('stranger');
      expect((await video.call('GET', '/api/characters', { key: stranger })).body).toMatchObject({ data: [] });
      const stolen = { characterReferenceImageKeys: fromFiles.body.data.image_keys };
      expect((await submit(stolen, stranger)).status).toBe(400);
    });

    it.each([
      ['no name', { images: ['https://x/y.png'] }],
      ['a name too long', { name: 'x'.repeat(61), images: ['https://x/y.png'] }],
      ['a description too long', { name: 'x', description: 'x'.repeat(301), images: ['https://x/y.png'] }],
      ['no images', { name: 'x', images: [] }],
      ['too many images', { name: 'x', images: Array.from({ length: 11 }, () => 'https://x/y.png') }],
      ['a data URI', { name: 'x', images: ['data:image/png;base64,aaaa'] }],
      ['base64', { name: 'x', images: ['iVBORw0KGgo='] }],
      ['a storage key', { name: 'x', images: ['uploads/upl_x/a.png'] }],
      ['a file address', { name: 'x', images: ['file:///etc/passwd'] }],
      ['an address inside', { name: 'x', images: ['http://127.0.0.1:1/a.png'] }],
      ['a list', []],
    ])('are refused with %s', async (_name, body) => {
      expect(await create(body)).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    });

    it.each([
      ['multipart/form-data', 'no form'],
      ['multipart/form-data; boundary=x', 'no form'],
      ['multipart/form-data; boundary=x', ''],
      ['multipart/form-data; boundary=x', '--x\r\n'],
      ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="name"\r\n\r\nAda'],
      [
        'multipart/form-data; boundary=x',
        '--x\r\ncontent-disposition: form-data; name="images"; filename="a"\r\n\r\nabc',
      ],
      ['multipart/form-data; boundary=x', '--x\r\nno header at all\r\n\r\nabc\r\n--x--'],
      ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data\r\n\r\nabc\r\n--x--\r\n'],
      [`multipart/form-data; boundary=${'x'.repeat(300)}`, 'no form'],
    ])('are refused as %s of %j, which is no form', async (type, body) => {
      const headers = { authorization: `Bearer ${await video.makeKey('acme')}`, 'content-type': type };
      const answer = await fetch(`${video.url}/api/characters`, { method: 'POST', headers, body });
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'validation_error' }]);
    });

    it('are refused when they are no images or not there', async () => {
      for (const path of ['/text', '/none']) {
        expect(await create({ name: 'x', images: [`${address}${path}`] })).toMatchObject({
          status: 400,
          body: { error: 'validation_error' },
        });
      }
      const form = new FormData();
      form.append('name', 'x');
      form.append('images', new Blob(['no image']), 'x.png');
      expect(await create(form)).toMatchObject({ status: 400, body: { error: 'validation_error' } });
      const none = new FormData();
      none.append('name', 'x');
      expect(await create(none)).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    });
  });
});
