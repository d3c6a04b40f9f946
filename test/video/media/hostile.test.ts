import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { errorText } from '../../../src/platform/errors.ts';
import { InvalidReferenceError } from '../../../src/video/media/error.ts';
import { normalizeImage } from '../../../src/video/media/image.ts';
import { probeReference } from '../../../src/video/media/probe.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSite } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { makeCorpus } from './corpus.ts';
import type { Hostile } from './corpus.ts';

const CANARY = 'the-secret-of-this-machine';
let folder: string;
let secret: string;
let site: Site;
let corpus: Hostile[];

beforeAll(async () => {
  folder = makeScratch('hostile');
  secret = join(folder, 'secret.ts');
  writeFileSync(secret, `${CANARY}\n`.repeat(1000));
  site = await startSite();
  corpus = await makeCorpus(folder, secret, site.url);
});

afterAll(() => {
  site.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Whether anyone has read the secret since; the first read after a change moves its access time. */
function watchSecret(): () => boolean {
  const old = new Date('2020-01-01T00:00:00Z');
  utimesSync(secret, old, new Date());
  return () => statSync(secret).atimeMs !== old.getTime();
}

/** What is wrong with an error; undefined for a sentence that a caller may read. */
function describeBreach(error: unknown): string | undefined {
  if (!(error instanceof InvalidReferenceError)) return errorText(error);
  const { message } = error;
  return /^The .*\.$/.test(message) && !message.includes(CANARY) && !message.includes(folder) ? undefined : message;
}

it('refuses every file of the corpus, reading and asking nothing', async () => {
  const wasRead = watchSecret();
  const breaches: string[] = [];
  for (const { name, path, as } of corpus) {
    for (const kind of as) {
      const breach = await probeReference(path, kind).then(() => 'accepted', describeBreach);
      if (breach !== undefined) breaches.push(`${name} as ${kind}: ${breach}`);
    }
  }
  expect(corpus.length).toBeGreaterThan(60);
  expect(breaches).toEqual([]);
  expect(wasRead()).toBe(false);
  expect(site.requests).toEqual([]);
}, 600_000);

it('would notice a read and a request', () => {
  const wasRead = watchSecret();
  readFileSync(secret);
  expect(wasRead()).toBe(true);
});

it('holds files that a careless ffprobe falls for', async () => {
  const [file, far] = [join(folder, 'hls-file.m3u8'), join(folder, 'hls-http.m3u8')];
  const careless = (path: string) =>
    new Promise<void>((resolve) => {
      const args = ['-v', 'quiet', '-protocol_whitelist', 'file,http,tcp', '-i', path];
      execFile('ffprobe', args, () => resolve());
    });
  const wasRead = watchSecret();
  await careless(file);
  expect(wasRead()).toBe(true);
  site.requests.length = 0;
  await careless(far);
  expect(site.requests.map(({ url }) => url.pathname)).toContain('/segment.ts');
});

it('lives through clips with flipped bits', async () => {
  const clip = readFileSync(join(folder, 'clip.mp4'));
  const path = join(folder, 'flipped.mp4');
  let state = 12_345;
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const seen = new Set<string>();
  for (let round = 0; round < 25; round += 1) {
    const copy = Buffer.from(clip);
    for (let flips = 0; flips < 60; flips += 1) {
      const at = 32 + next(copy.length - 32);
      copy[at] = next(256);
    }
    writeFileSync(path, copy);
    const outcome = await probeReference(path, 'video').then(
      () => 'accepted',
      (error: unknown) => (error instanceof InvalidReferenceError ? 'refused' : errorText(error)),
    );
    seen.add(outcome);
  }
  expect([...seen].filter((outcome) => outcome !== 'accepted' && outcome !== 'refused')).toEqual([]);
}, 300_000);

it('leaves nothing of a picture but its pixels', async () => {
  const source = join(folder, 'photo.jpg');
  const picture = sharp({ create: { width: 40, height: 20, channels: 3, background: '#884422' } });
  const exif = { IFD0: { Copyright: CANARY }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' } };
  const bytes = await picture.withExif(exif).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  writeFileSync(source, Buffer.concat([bytes, Buffer.from(`PK\x03\x04${CANARY}`)]));
  expect(await probeReference(source, 'image')).toMatchObject({ width: 20, height: 40 });

  const target = join(folder, 'normal.jpg');
  expect(await normalizeImage(source, target)).toMatchObject({ mime: 'image/jpeg', width: 20, height: 40 });
  const metadata = await sharp(target).metadata();
  expect(metadata.exif).toBeUndefined();
  expect(metadata.orientation).toBeUndefined();
  expect(readFileSync(target).includes(CANARY)).toBe(false);
  execFileSync('ffprobe', ['-v', 'error', target]);
});
