import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { invalid } from '../../gateway-error.ts';
import { isAbsent, readName, readOptionalChoice } from '../../dialects/fields.ts';
import { buildJsonAnswer, countTokens } from '../endpoint.ts';
import type { EndpointInput, ScriptAnswer } from '../endpoint.ts';

const MAX_IMAGES = 10;
const MAX_SIDE = 2048;
/** Pixels of all images of one response. More would hold up every other request. */
const MAX_PIXELS = 16 * 1024 * 1024;
const STRIPES = 16;

function buildChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, tail]);
}

/** A PNG of diagonal stripes whose colours depend on the seed. */
export function drawPng(seed: string, width: number, height: number): Buffer {
  const digest = createHash('sha512').update(seed).digest();
  const palette = Buffer.alloc(STRIPES * 3);
  for (let at = 0; at < palette.length; at += 1) palette[at] = digest[at] ?? 0;
  const rows = Buffer.alloc((width + 1) * height);
  // Each row is the one above it, shifted by one pixel.
  const diagonal = Buffer.alloc(width + height);
  for (let at = 0; at < diagonal.length; at += 1) diagonal[at] = Math.floor((at * STRIPES) / diagonal.length);
  for (let y = 0; y < height; y += 1) diagonal.copy(rows, y * (width + 1) + 1, y, y + width);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    buildChunk('IHDR', header),
    buildChunk('PLTE', palette),
    buildChunk('IDAT', deflateSync(rows, { level: 1 })),
    buildChunk('IEND', Buffer.alloc(0)),
  ]);
}

function readSize(value: unknown): [number, number] {
  if (isAbsent(value) || value === 'auto') return [256, 256];
  const [, width, height] = (typeof value === 'string' ? /^(\d{1,4})x(\d{1,4})$/.exec(value) : undefined) ?? [];
  const size: [number, number] = [Number(width), Number(height)];
  if (size.every((side) => side >= 1 && side <= MAX_SIDE)) return size;
  throw invalid('size', `must be <width>x<height>, at most ${MAX_SIDE} each`);
}

/** Fields of a form are texts. */
function readCount(value: unknown): number {
  const count = isAbsent(value) ? 1 : Number(value);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_IMAGES) return count;
  throw invalid('n', `must be an integer from 1 to ${MAX_IMAGES}`);
}

export function checkImages({ fields }: EndpointInput): void {
  readName(fields['prompt'], 'prompt');
}

export function checkImageEdit(input: EndpointInput): void {
  checkImages(input);
  if (!input.files.some(({ field }) => field === 'image' || field === 'image[]')) throw invalid('image', 'is required');
}

export function answerImages({ fields, files }: EndpointInput): ScriptAnswer {
  const prompt = readName(fields['prompt'], 'prompt');
  const [width, height] = readSize(fields['size']);
  const format = readOptionalChoice(fields['response_format'], 'response_format', ['url', 'b64_json']);
  if (fields['stream'] === true || fields['stream'] === 'true')
    throw invalid('stream', 'script models send no partial images');
  const count = readCount(fields['n']);
  if (count * width * height > MAX_PIXELS) throw invalid('n', `script models draw at most ${MAX_PIXELS} pixels`);
  const source = files.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex')).join();
  const data = Array.from({ length: count }, (_, index) => {
    const image = drawPng(`${prompt}\n${source}\n${index}`, width, height).toString('base64');
    return format === 'url' ? { url: `data:image/png;base64,${image}` } : { b64_json: image };
  });
  const usage = { input: countTokens(prompt), output: data.length * 64 };
  return buildJsonAnswer(
    {
      created: Math.floor(Date.now() / 1000),
      data,
      output_format: 'png',
      size: `${width}x${height}`,
      usage: {
        input_tokens: usage.input,
        input_tokens_details: { text_tokens: usage.input, image_tokens: 0 },
        output_tokens: usage.output,
        total_tokens: usage.input + usage.output,
      },
    },
    usage,
  );
}
