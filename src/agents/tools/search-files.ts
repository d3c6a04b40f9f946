import type { SearchRequest, SearchResult } from '../../sandbox/sandbox.ts';
import { catchFileErrors } from './files/file-errors.ts';
import { findSimilar } from './files/similar.ts';
import { failTool } from './tool.ts';
import { readNumber, readText } from './input.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;
const WARN_AT = 3;
const BLOCK_AT = 4;

export const searchFilesTool: Tool = {
  name: 'search_files',
  toolset: 'file',
  description:
    'Search the workspace with ripgrep. target "content" finds a regular expression in files, target "files" finds ' +
    'files by name or glob, newest first. Respects .gitignore and skips hidden files. Use this instead of grep, find or ls.',
  parameters: {
    type: 'object',
    properties: {
      pattern: { type: 'string', description: 'Regular expression (content) or name or glob (files)' },
      target: { type: 'string', enum: ['content', 'files', 'grep', 'find'], default: 'content' },
      path: { type: 'string', description: 'File or directory to search', default: '.' },
      file_glob: { type: 'string', description: 'Only files that fit, for instance *.ts' },
      limit: { type: 'integer', minimum: 1, default: DEFAULT_LIMIT },
      offset: { type: 'integer', minimum: 0, default: 0 },
      output_mode: { type: 'string', enum: ['content', 'files_only', 'count'], default: 'content' },
      context: { type: 'integer', minimum: 0, default: 0, description: 'Lines around each match' },
    },
    required: ['pattern'],
  },
  readOnly: true,
  parallelism: () => 'shared',
  run: (input, context) => catchFileErrors(() => search(input, context)),
};

async function search(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
  const request = readRequest(input);
  const repeats = noteSearch(context, request);
  if (repeats >= BLOCK_AT) {
    return failTool(
      `BLOCKED: this search was made ${repeats} times in a row and its result has not changed. Use what you have.`,
    );
  }
  const sandbox = await context.sandbox();
  if ((await sandbox.stat(request.path)) === undefined) {
    return failTool(`Path not found: ${request.path}`, {
      total_count: 0,
      similar_files: await findSimilar(sandbox, request.path),
    });
  }
  const result = await sandbox.search(request, context.signal);
  const shown = {
    ...describe(request, result),
    ...(repeats >= WARN_AT ? { _warning: `The same search ${repeats} times in a row gives the same answer.` } : {}),
  };
  const next = request.offset + request.limit;
  const hint =
    result.totalCount > next
      ? `\n\n[Showing ${request.offset + 1}-${next} of ${result.totalCount}. Use offset=${next} for more.]`
      : '';
  return { content: JSON.stringify(shown) + hint, isError: false };
}

function readRequest(input: Record<string, unknown>): SearchRequest {
  const files = input['target'] === 'files' || input['target'] === 'find';
  const mode = readText(input, 'output_mode', 'content') as 'content' | 'files_only' | 'count';
  return {
    pattern: readText(input, 'pattern'),
    path: readText(input, 'path', '.') || '.',
    mode: files ? 'names' : mode,
    context: Math.min(20, Math.max(0, readNumber(input, 'context', 0))),
    limit: Math.min(MAX_LIMIT, Math.max(1, readNumber(input, 'limit', DEFAULT_LIMIT))),
    offset: Math.max(0, readNumber(input, 'offset', 0)),
    ...(typeof input['file_glob'] === 'string' && input['file_glob'] !== '' ? { glob: input['file_glob'] } : {}),
  };
}

function describe(request: SearchRequest, result: SearchResult): Record<string, unknown> {
  const truncated = result.totalCount > request.offset + request.limit || result.limitReason !== null;
  return {
    total_count: result.totalCount,
    ...(request.mode === 'content' ? { matches: result.matches } : {}),
    ...(request.mode === 'files_only' || request.mode === 'names' ? { files: result.files } : {}),
    ...(request.mode === 'count' ? { counts: result.counts } : {}),
    ...(truncated ? { truncated } : {}),
    ...(result.limitReason === null ? {} : { limit_reason: result.limitReason }),
  };
}

/** How many times in a row this very search was made, this one included. */
function noteSearch(context: ToolContext, request: SearchRequest): number {
  const key = JSON.stringify(request);
  const last = context.state.get<{ key: string; count: number }>('search_files');
  const count = last?.key === key ? last.count + 1 : 1;
  context.state.set('search_files', { key, count });
  return count;
}

/** Other work came between: the next search counts from one again. */
export function forgetSearches(state: ToolContext['state']): void {
  state.set('search_files', undefined);
}
