import { catchFileErrors } from './files/file-errors.ts';
import { readText } from './input.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

const MAX_BYTES = 50 * 1024 * 1024;
const DATA_URL = /^data:[a-z0-9.+-]{0,100}(?:\/[a-z0-9.+-]{0,100})?;base64,/i;

export const visionAnalyzeTool: Tool = {
  name: 'vision_analyze',
  toolset: 'vision',
  description:
    'Look at an image and answer a question about it. The image is an http(s) URL, a path in the workspace or a ' +
    'data: URL. Ask for everything you need to know: the answer is text, and the image itself is not shown to you.',
  parameters: {
    type: 'object',
    properties: {
      image_url: { type: 'string', description: 'http(s) URL, path in the workspace, or base64 data: URL' },
      question: { type: 'string', description: 'What to find out about the image' },
    },
    required: ['image_url', 'question'],
  },
  readOnly: true,
  parallelism: () => 'shared',
  run: (input, context) => catchFileErrors(() => analyze(input, context)),
};

async function analyze(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
  const found = await findImage(readText(input, 'image_url').trim(), context);
  if ('fault' in found) return failAnalysis(found.fault);
  const read = await context.conversion.readImage(found.bytes, context.signal);
  if ('fault' in read) return failAnalysis(read.fault);
  const answer = await context.describeImage(read.image, readText(input, 'question'));
  if ('fault' in answer) return failAnalysis(answer.fault);
  return { content: JSON.stringify({ success: true, analysis: answer.analysis }), isError: false };
}

async function findImage(address: string, context: ToolContext): Promise<{ bytes: Uint8Array } | { fault: string }> {
  if (/^https?:/i.test(address)) return context.conversion.fetchImage(address, context.signal);
  if (/^data:/i.test(address)) {
    const head = DATA_URL.exec(address);
    if (head === null) return { fault: 'A data: URL of an image must be in base64.' };
    if (address.length > MAX_BYTES * 1.4) return tooLarge();
    return { bytes: Buffer.from(address.slice(head[0].length), 'base64') };
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) return { fault: 'Images are read by http, https and data: URLs only.' };
  const sandbox = await context.sandbox();
  const stat = await sandbox.stat(address);
  if (stat === undefined) return { fault: `File not found: ${address}` };
  if (stat.type !== 'file') return { fault: `${address} is not a regular file.` };
  if (stat.sizeBytes > MAX_BYTES) return tooLarge();
  return { bytes: (await sandbox.readFile(address, { offset: 0, maxBytes: MAX_BYTES })).bytes };
}

function tooLarge(): { fault: string } {
  return { fault: `The image is over ${MAX_BYTES} bytes.` };
}

function failAnalysis(error: string): ToolOutcome {
  return { content: JSON.stringify({ success: false, error, analysis: '' }), isError: true };
}
