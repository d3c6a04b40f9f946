import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { makeScratch } from '../support/scratch.ts';

export const WRONG = 'export const sum = (a, b) => a - b;';
export const RIGHT = 'export const sum = (a, b) => a + b;';
export const PASSED = 'two and three are five';
export const PROMPT = 'Look at diagram.png, mend sum.mjs so that check.mjs passes, and say what you did.';

const CHECK = `import { writeFileSync } from 'node:fs';
import { sum } from './sum.mjs';
if (sum(2, 3) !== 5) throw new Error('still wrong');
writeFileSync('passed.txt', '${PASSED}');
console.log(['two', 'and', 'three', 'are', 'five'].join(' '));
`;

export type Task = {
  /** the client's working directory, with `sum.mjs`, `check.mjs`, `diagram.png` and `sketch.png` */
  folder: string;
  /** the client's home, empty */
  home: string;
  /** base64 of the file */
  image(name: 'diagram.png' | 'sketch.png'): string;
  read(name: string): string;
  close(): void;
};

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A square of 64 by 64 pixels in one shade of grey. */
function encodePng(shade: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(64, 0);
  header.writeUInt32BE(64, 4);
  header[8] = 8;
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(64, shade)]);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: 64 }, () => row)))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A small project with a bug, in its own folders. */
export function makeTask(): Task {
  const scratch = makeScratch('client');
  const folder = join(scratch, 'project');
  const home = join(scratch, 'home');
  mkdirSync(folder);
  mkdirSync(home);
  writeFileSync(join(folder, 'sum.mjs'), `${WRONG}\n`);
  writeFileSync(join(folder, 'check.mjs'), CHECK);
  writeFileSync(join(folder, 'diagram.png'), encodePng(80));
  writeFileSync(join(folder, 'sketch.png'), encodePng(160));
  return {
    folder,
    home,
    image: (name) => readFileSync(join(folder, name), 'base64'),
    read: (name) => readFileSync(join(folder, name), 'utf8'),
    close: () => rmSync(scratch, { recursive: true, force: true }),
  };
}
