import { omitUndefined } from '../../platform/records.ts';
import { absolutePath, catchFileErrors, pathKey } from './files/file-errors.ts';
import { lintText } from './files/lint.ts';
import { noteWrite, warnIfChanged } from './files/seen-files.ts';
import { decodeText, encodeText } from './files/text.ts';
import { answerTool, failTool } from './tool.ts';
import { readText } from './input.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

/** Larger files are overwritten without detecting their conventions. */
const MAX_COMPARED_BYTES = 5 * 1024 * 1024;
/** The subject's memory and the agent's skills have tools of their own. */
const RESERVED = /^(memories|skills)(\/|$)/;

export const writeFileTool: Tool = {
  name: 'write_file',
  toolset: 'file',
  description:
    'Write a file of the workspace, replacing all it holds; missing folders are made. For a change to part of a file ' +
    'use patch. JSON and YAML are checked after the write.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Path of the file: absolute, relative to the workspace, or ~/path' },
      content: { type: 'string', description: 'The whole new content' },
    },
    required: ['path', 'content'],
  },
  readOnly: false,
  parallelism: (input) => ({ paths: [pathKey(readText(input, 'path'))] }),
  run: (input, context) => catchFileErrors(() => writeFile(input, context)),
};

async function writeFile(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
  const path = readText(input, 'path');
  const content = readText(input, 'content');
  if (isOwnStub(content))
    return failTool(
      'This is the note that read_file gives for an unchanged file, not its content. Nothing was written.',
    );
  const refusal = refuseReserved(path);
  if (refusal !== undefined) return failTool(refusal);
  const sandbox = await context.sandbox();
  const old = await sandbox.stat(path);
  const readable = old?.type === 'file' && old.sizeBytes <= MAX_COMPARED_BYTES;
  const before = readable ? decodeText((await sandbox.readFile(path)).bytes) : undefined;
  const warning = old === undefined ? undefined : warnIfChanged(context.state, old.path, old.modifiedMs);
  const bytes = encodeText(content, before ?? { bom: false, crlf: false });
  const { stat, dirsCreated } = await sandbox.writeFile(path, bytes);
  noteWrite(context.state, stat.path, stat.modifiedMs);
  const resolved = absolutePath(sandbox, stat);
  return answerTool({
    bytes_written: bytes.length,
    dirs_created: dirsCreated.length > 0,
    lint: lintText(path, content, before?.text),
    resolved_path: resolved,
    files_modified: [resolved],
    ...omitUndefined({ _warning: warning }),
  });
}

/** Why a tool may not change this path, or undefined. */
export function refuseReserved(path: string): string | undefined {
  return RESERVED.test(pathKey(path))
    ? `${path} is reserved: use the tools for memory and skills. Nothing was changed.`
    : undefined;
}

function isOwnStub(content: string): boolean {
  if (content.length > 2000 || !content.includes('content_returned')) return false;
  try {
    const value = JSON.parse(content) as Record<string, unknown>;
    return value['dedup'] === true && value['content_returned'] === false;
  } catch {
    return false;
  }
}
