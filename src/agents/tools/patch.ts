import { createTwoFilesPatch } from 'diff';
import { omitUndefined } from '../../platform/records.ts';
import { absolutePath, catchFileErrors, pathKey } from './files/file-errors.ts';
import { lintText } from './files/lint.ts';
import { noteWrite, warnIfChanged } from './files/seen-files.ts';
import { findSimilar } from './files/similar.ts';
import { decodeText, encodeText, isBinary } from './files/text.ts';
import { runV4a } from './patch/commit.ts';
import { describeClosest } from './patch/closest-lines.ts';
import { replaceText } from './patch/replace.ts';
import { parseV4a } from './patch/v4a.ts';
import { answerTool, failTool } from './tool.ts';
import { readText } from './input.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';
import { refuseReserved } from './write-file.ts';

const MISSES_BEFORE_HINT = 3;

export const patchTool: Tool = {
  name: 'patch',
  toolset: 'file',
  description:
    'Change files of the workspace. mode "replace" (default): find old_string in a file and put new_string in its place; ' +
    'small differences in blanks are forgiven, but old_string must be unique unless replace_all is set. mode "patch": ' +
    'apply a V4A patch to several files, all or none:\n*** Begin Patch\n*** Update File: path\n@@ hint @@\n context\n' +
    '-removed\n+added\n*** Add File: path\n+line\n*** Delete File: path\n*** Move File: from -> to\n*** End Patch',
  parameters: {
    type: 'object',
    properties: {
      mode: { type: 'string', enum: ['replace', 'patch'], default: 'replace' },
      path: { type: 'string', description: 'replace: the file' },
      old_string: {
        type: 'string',
        description: 'replace: the text to find, with enough lines around it to be unique',
      },
      new_string: { type: 'string', description: 'replace: the text to put there; empty deletes' },
      replace_all: { type: 'boolean', default: false },
      patch: { type: 'string', description: 'patch: the V4A text' },
    },
  },
  readOnly: false,
  parallelism: (input) =>
    input['mode'] === 'patch'
      ? { paths: patchedPaths(readText(input, 'patch')) }
      : { paths: [pathKey(readText(input, 'path'))] },
  run: (input, context) => catchFileErrors(() => patch(input, context)),
};

function patchedPaths(text: string): string[] {
  const parsed = parseV4a(text);
  if ('error' in parsed) return [];
  return parsed.operations
    .flatMap((item) =>
      item.kind === 'move'
        ? [item.from, item.to]
        : item.kind === 'update' && item.moveTo !== undefined
          ? [item.path, item.moveTo]
          : [item.path],
    )
    .map(pathKey);
}

async function patch(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
  if (input['mode'] === 'patch') {
    if (typeof input['patch'] !== 'string') return failPatch('patch is required with mode "patch".');
    return runV4a(input['patch'], context);
  }
  for (const name of ['path', 'old_string', 'new_string']) {
    if (typeof input[name] !== 'string') return failPatch(`${name} is required with mode "replace".`);
  }
  const path = readText(input, 'path');
  const old = readText(input, 'old_string');
  const next = readText(input, 'new_string');
  const refusal = refuseReserved(path);
  if (refusal !== undefined) return failPatch(refusal);
  const sandbox = await context.sandbox();
  const found = await sandbox.stat(path);
  if (found === undefined)
    return failPatch(`File not found: ${path}`, { similar_files: await findSimilar(sandbox, path) });
  const { stat, bytes } = await sandbox.readFile(path);
  if (isBinary(path, bytes)) return failPatch(`${path} is a binary file and is not patched.`);
  const file = decodeText(bytes);
  const plain = (text: string): string => (file.text.includes('\r') ? text : text.replaceAll('\r\n', '\n'));
  const result = replaceText(file.text, plain(old), plain(next), input['replace_all'] === true);
  if (!result.ok) {
    if (result.reason !== 'miss') return failPatch(result.error);
    const misses = noteMiss(context, stat.path);
    const hint = `${misses} attempts on this file have missed. Read it with read_file before the next one, or rewrite it with write_file.`;
    return failPatch(
      `${result.error}${describeClosest(file.text, old)}`,
      misses >= MISSES_BEFORE_HINT ? { _hint: hint } : {},
    );
  }
  const resolved = absolutePath(sandbox, stat);
  if (result.count === 0) {
    return answerTool({
      success: true,
      resolved_path: resolved,
      files_modified: [],
      _hint: 'new_string is in the file already; nothing was changed.',
    });
  }
  const warning = warnIfChanged(context.state, stat.path, stat.modifiedMs);
  const encoded = encodeText(result.text, file);
  const written = await sandbox.writeFile(path, encoded, { ifModifiedMs: stat.modifiedMs });
  const check = await sandbox.readFile(path);
  if (Buffer.compare(check.bytes, encoded) !== 0)
    return failPatch(`${path} holds something else than what was written. Read it again.`);
  noteWrite(context.state, written.stat.path, written.stat.modifiedMs);
  context.state.set('patch.misses', {});
  return answerTool({
    success: true,
    diff: createTwoFilesPatch(`a/${stat.path}`, `b/${stat.path}`, file.text, result.text),
    files_modified: [resolved],
    lint: lintText(path, result.text, file.text),
    resolved_path: resolved,
    ...(result.strategy === 'exact' ? {} : { match_strategy: result.strategy }),
    ...omitUndefined({ _warning: warning }),
  });
}

function noteMiss(context: ToolContext, path: string): number {
  const misses = context.state.get<Record<string, number>>('patch.misses') ?? {};
  const count = (misses[path] ?? 0) + 1;
  context.state.set('patch.misses', { ...misses, [path]: count });
  return count;
}

function failPatch(error: string, extra: Record<string, unknown> = {}): ToolOutcome {
  return failTool(error, { success: false, ...extra });
}
