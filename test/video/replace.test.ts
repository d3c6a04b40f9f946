import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openS3 } from '../../src/platform/objects/s3.ts';
import type { Objects } from '../../src/platform/objects/objects.ts';
import type { ReferenceKeys } from '../../src/video/contract/generations.ts';
import { openStoryboard } from '../../src/video/engines/storyboard/engine.ts';
import { findService } from '../support/find-service.ts';
import { makeScratch } from '../support/scratch.ts';
import { S3_CREDENTIALS } from '../support/services/s3.ts';
import { SMALL, putUpload, startVideo } from './harness.ts';
import type { TestVideo, UploadAddress } from './harness.ts';

const s3 = await findService('s3');
const run = promisify(execFile);

async function makeClip(): Promise<Buffer> {
  const path = `${makeScratch('clip')}.mp4`;
  const source = [
    '-f',
    'lavfi',
    '-i',
    'testsrc=size=128x96:rate=10:duration=1',
    '-f',
    'lavfi',
    '-i',
    'sine=duration=1',
  ];
  await run('ffmpeg', ['-v', 'error', ...source, '-c:v', 'libx264', '-c:a', 'aac', '-y', path]);
  const bytes = await readFile(path);
  await rm(path);
  return bytes;
}

/** S3 takes a signed `PUT` again for 15 minutes; our own server takes it once. What engines are given is safe from both. */
describe.each([
  { name: 'files', installed: true, open: undefined },
  { name: 's3', installed: s3 !== undefined, open: () => openS3({ url: s3!, credentials: S3_CREDENTIALS }) },
] satisfies { name: string; installed: boolean; open: (() => Promise<Objects>) | undefined }[])(
  'an upload on $name that is replaced after it was looked at',
  ({ installed, open }) => {
    let video: TestVideo;
    let clip: Buffer;
    beforeAll(async () => {
      if (!installed) return;
      clip = await makeClip();
      const objects = open === undefined ? {} : { objects: await open() };
      video = await startVideo({ engines: [openStoryboard()], worker: false, ...objects });
    });
    afterAll(() => video?.close());

    const upload = async (): Promise<UploadAddress> => {
      const body = { filename: 'clip.mp4', contentType: 'video/mp4', sizeBytes: clip.length };
      const { body: made } = await video.call<{ data: UploadAddress }>('POST', '/api/uploads', { body });
      await putUpload(made.data, clip);
      return made.data;
    };
    /** As the address allows, or, where it is used up, as somebody with access to the store. */
    const replace = async (address: UploadAddress, bytes: Uint8Array): Promise<void> => {
      if (open !== undefined) return putUpload(address, bytes);
      const again = await fetch(address.upload_url, {
        method: 'PUT',
        headers: address.headers,
        body: new Uint8Array(bytes),
      });
      expect(again.status).toBe(409);
      await video.ports.objects.put(address.s3_key, bytes, { contentType: 'video/mp4' });
    };
    const readPlan = async (id: string | undefined) =>
      (
        await video.ports.db.query<{ references: ReferenceKeys }>(
          `SELECT request->'references' AS references FROM generations WHERE id = $1`,
          [id],
        )
      ).rows[0]!.references;
    const read = async (key: string | undefined) => {
      const object = await video.ports.objects.get(key!);
      const chunks: Buffer[] = [];
      for await (const chunk of object!.body) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    };

    it.skipIf(!installed)('does not change the engines’ files, then or later', async () => {
      const address = await upload();
      const [first] = await video.submit({ ...SMALL, sourceVideoKey: address.s3_key });
      const evil = randomBytes(clip.length);
      await replace(address, evil);
      const plan = await readPlan(first);
      expect(plan.sourceVideo).not.toBe(address.s3_key);
      expect((await read(plan.sourceVideo)).equals(clip)).toBe(true);
      expect((await read(address.s3_key)).equals(evil)).toBe(true);

      // Used again as what it was, it is what it was; used as something else, it is looked at.
      const [second] = await video.submit({ ...SMALL, sourceVideoKey: address.s3_key });
      expect(await readPlan(second)).toEqual(plan);
      const refused = await video.call('POST', '/api/generations', { body: { ...SMALL, audioKey: address.s3_key } });
      expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_reference' } });

      // One that passes for another kind has a copy of its own.
      const other = await makeClip();
      other[other.length - 1]! ^= 1;
      await replace(address, other.subarray(0, clip.length));
      const [third] = await video.submit({ ...SMALL, audioKey: address.s3_key });
      const audio = await readPlan(third);
      expect((await read(audio.audio)).equals(other)).toBe(true);
      expect((await read(plan.sourceVideo)).equals(clip)).toBe(true);
    });
  },
);
