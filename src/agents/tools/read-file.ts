import type { SandboxSession } from '../../sandbox/sandbox.ts';
import { omitUndefined } from '../../platform/records.ts';
import { catchFileErrors } from './files/file-errors.ts';
import { fitPage, readPage } from './files/pages.ts';
import type { Page } from './files/pages.ts';
import { noteRead } from './files/seen-files.ts';
import { findSimilar } from './files/similar.ts';
import { isBinary, isImagePath } from './files/text.ts';
import { answerTool, failTool } from './tool.ts';
import { readNumber, readText } from './input.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 2000;
/** The beginning of a path that names an attachment of the turn's message. */
const ATTACHMENT = 'attachment:';
const BIG_FILE_BYTES = 512_000;
/** These have to be read whole. */
const MAX_NOTEBOOK_BYTES = 10 * 1024 * 1024;
const MAX_DOCUMENT_BYTES = 50 * 1024 * 1024;

export const readFileTool: Tool = {
  name: 'read_file',
  toolset: 'file',
  description:
    'Read a text file of the workspace with line numbers (LINE|text). Use offset and limit for big files. Use this ' +
    'instead of cat, head or tail. PDF, Word (.docx), Excel (.xlsx) and notebooks are shown as text. For images use ' +
    'vision_analyze. The path attachment:NAME reads a file that came with the message of this turn.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Path of the file: absolute, relative to the workspace, or ~/path' },
      offset: { type: 'integer', description: 'First line, counted from 1', default: 1, minimum: 1 },
      limit: { type: 'integer', description: 'Number of lines, at most 2000', default: DEFAULT_LIMIT },
    },
    required: ['path'],
  },
  readOnly: true,
  parallelism: () => 'shared',
  run: (input, context) => catchFileErrors(() => readFile(input, context)),
};

async function readFile(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
  const path = readText(input, 'path');
  const offset = Math.max(1, readNumber(input, 'offset', 1));
  const limit = Math.min(MAX_LIMIT, Math.max(1, readNumber(input, 'limit', DEFAULT_LIMIT)));
  if (path.startsWith(ATTACHMENT))
    return await readAttachment(path, { offset, limit, isOpen: input['limit'] === undefined }, context);
  if (/^\/(dev|proc|sys)\//.test(path)) return failTool(`${path} is a device or system file and is not read.`);
  const sandbox = await context.sandbox();
  const stat = await sandbox.stat(path);
  if (stat === undefined)
    return failTool(`File not found: ${path}`, { similar_files: await findSimilar(sandbox, path) });
  if (stat.type !== 'file') return refuseType(path, stat.type);
  if (isImagePath(path)) {
    return answerTool({
      is_image: true,
      is_binary: true,
      file_size: stat.sizeBytes,
      hint: 'Use vision_analyze with this path to see the image.',
    });
  }
  const head = await sandbox.readFile(path, { offset: 0, maxBytes: 1000 });
  const type = context.conversion.findType(path);
  if (type === undefined && isBinary(path, head.bytes)) {
    return failTool(`${path} is a binary file and is not shown as text.`, {
      is_binary: true,
      file_size: stat.sizeBytes,
    });
  }
  const repeats = noteRead(context.state, stat.path, `${offset}:${limit}`, head.stat.modifiedMs);
  if (repeats > 0) return answerRepeat(path, repeats);
  const document = await readDocument(sandbox, { path, type, sizeBytes: stat.sizeBytes }, context);
  if (typeof document === 'object') return failTool(document.fault, { path, file_size: stat.sizeBytes });
  const body = document === undefined ? (await sandbox.openFile(path)).body : chunksOf(document);
  const asked = await readPage(body, offset, limit);
  // Without a limit of its own a call gets as many lines as there is room for.
  const page = input['limit'] === undefined ? fitPage(asked, context.resultLimit) : asked;
  if (page.characters > context.resultLimit) {
    return refuseLength(page, context.resultLimit, { path, file_size: stat.sizeBytes });
  }
  return showPage(page, { offset, limit, sizeBytes: stat.sizeBytes, isDocument: document !== undefined });
}

async function readAttachment(
  path: string,
  { offset, limit, isOpen }: { offset: number; limit: number; isOpen: boolean },
  context: ToolContext,
): Promise<ToolOutcome> {
  const read = await context.readAttachment(path.slice(ATTACHMENT.length));
  if ('fault' in read) return failTool(read.fault);
  const asked = await readPage(chunksOf(read.text), offset, limit);
  const page = isOpen ? fitPage(asked, context.resultLimit) : asked;
  if (page.characters > context.resultLimit) return refuseLength(page, context.resultLimit, { path });
  return showPage(page, { offset, limit, sizeBytes: Buffer.byteLength(read.text), isDocument: false });
}

/** A page of more characters than a result may have. */
function refuseLength(page: Page & { characters: number }, most: number, more: Record<string, unknown>): ToolOutcome {
  const message = `These lines hold ${page.characters} characters; at most ${most} are shown. Ask for fewer lines with offset and limit.`;
  return failTool(message, { ...more, total_lines: page.totalLines });
}

function showPage(
  page: Page,
  { offset, limit, sizeBytes, isDocument }: { offset: number; limit: number; sizeBytes: number; isDocument: boolean },
): ToolOutcome {
  const truncated = offset + page.shown <= page.totalLines;
  const big = sizeBytes > BIG_FILE_BYTES && limit > 200 && truncated;
  return answerTool({
    content: page.content,
    total_lines: page.totalLines,
    file_size: sizeBytes,
    truncated,
    is_binary: false,
    is_image: false,
    ...omitUndefined({ hint: describeRest(offset, page) }),
    ...(isDocument ? { extracted_document: true } : {}),
    ...(big ? { _hint: 'This file is big: search it with search_files, or read a narrow range of lines.' } : {}),
  });
}

function refuseType(path: string, type: 'directory' | 'other'): ToolOutcome {
  return failTool(
    type === 'directory'
      ? `${path} is a directory. Use search_files with target "files" to list it.`
      : `${path} is not a regular file and is not read.`,
  );
}

/** `repeats`: how often this part was read before, unchanged since. */
function answerRepeat(path: string, repeats: number): ToolOutcome {
  if (repeats === 1) {
    return answerTool({
      status: 'unchanged',
      dedup: true,
      content_returned: false,
      path,
      message: 'The file has not changed since you read this part; use what you have.',
    });
  }
  return failTool(
    `BLOCKED: you have read this part of ${path} ${repeats + 1} times and it has not changed. Use what you have and go on.`,
    { path, already_read: repeats + 1 },
  );
}

/** How to read on, or that the page lies past the end. */
function describeRest(
  offset: number,
  { shown, totalLines }: { shown: number; totalLines: number },
): string | undefined {
  const next = offset + shown;
  if (next <= totalLines)
    return `Use offset=${next} to read on (showing lines ${offset}-${next - 1} of ${totalLines}).`;
  if (offset > totalLines && totalLines > 0)
    return `offset ${offset} is past the end; the file has ${totalLines} lines.`;
  return undefined;
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text, 'utf8');
}

/** What is no plain text, as text; undefined when it is. */
async function readDocument(
  sandbox: SandboxSession,
  { path, type, sizeBytes }: { path: string; type: string | undefined; sizeBytes: number },
  { conversion, signal }: ToolContext,
): Promise<string | { fault: string } | undefined> {
  if (path.endsWith('.ipynb')) return readNotebook(sandbox, path, sizeBytes);
  if (type === undefined) return undefined;
  if (sizeBytes > MAX_DOCUMENT_BYTES)
    return { fault: `${path} is over ${MAX_DOCUMENT_BYTES} bytes and is not converted.` };
  const { bytes } = await sandbox.readFile(path);
  const read = await conversion.readDocument(bytes, type, signal);
  return 'fault' in read ? read : read.text;
}

type Notebook = { cells?: { cell_type?: string; source?: string | string[] }[] };

/** The cells' sources one after another, or undefined when it is no notebook after all. */
async function readNotebook(sandbox: SandboxSession, path: string, size: number): Promise<string | undefined> {
  if (size > MAX_NOTEBOOK_BYTES) return undefined;
  try {
    const { bytes } = await sandbox.readFile(path);
    const notebook = JSON.parse(Buffer.from(bytes).toString('utf8')) as Notebook;
    return notebook.cells
      ?.map(
        (cell, index) =>
          `# --- cell ${index + 1} (${cell.cell_type ?? 'unknown'}) ---\n${[cell.source ?? []].flat().join('')}\n`,
      )
      .join('\n');
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
