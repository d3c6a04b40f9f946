import stripAnsi from 'strip-ansi';
import type { SandboxSession } from '../../sandbox/sandbox.ts';
import { redactSecrets } from './redact.ts';
import type { ToolOutcome } from './tool.ts';

/** Bytes of UTF-8, which follow the tokens in any language better than characters. */
export type ResultLimits = { result: number; step: number };

const MAX_RESULT = 100_000;
const MIN_RESULT = 4000;
/** Bytes a token of the window: a result takes up to a fifth of it. */
const BYTES_PER_TOKEN = 0.8;

/** How large one result and all results of a reply may be, by the model's window in tokens. */
export function decideResultLimits(contextWindow: number): ResultLimits {
  const result = Math.round(Math.min(MAX_RESULT, Math.max(MIN_RESULT, contextWindow * BYTES_PER_TOKEN)));
  return { result, step: 2 * result };
}

const PREVIEW = 1500;
/** Moving shorter results to a file would save nothing. */
const SPILL_FROM = 2 * PREVIEW;
/** Caps its own result: moving it to a file would make the model read that file in turn, endlessly. */
const EXEMPT = new Set(['read_file']);

/** Escape sequences inside JSON text are written as `\u001b`, where `strip-ansi` does not see them. */
function stripAnsiJson(text: string): string {
  if (!text.includes('\\u001b') && !text.includes('\\u009b')) return text;
  try {
    return JSON.stringify(stripDeep(JSON.parse(text)));
  } catch {
    return text;
  }
}

function stripDeep(value: unknown): unknown {
  if (typeof value === 'string') return stripAnsi(value);
  if (Array.isArray(value)) return value.map(stripDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, stripDeep(item)]));
}

/** Their output may redraw a line, as progress bars do. */
const REDRAWING = new Set(['terminal', 'process', 'execute_code']);

/** The final state of a line that was redrawn with carriage returns. */
function collapseRedraws(text: string): string {
  if (!text.includes('\r')) return text;
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => (line.includes('\r') ? (line.split('\r').findLast((drawn) => drawn !== '') ?? '') : line))
    .join('\n');
}

/** The same inside the texts of a JSON object. */
function collapseRedrawsJson(text: string): string {
  if (!text.includes('\\r')) return text;
  try {
    const fields = JSON.parse(text) as Record<string, unknown>;
    const entries = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? collapseRedraws(value) : value,
    ]);
    return JSON.stringify(Object.fromEntries(entries));
  } catch {
    return text;
  }
}

/** What the model may read of any result: no escape sequences, no credentials. */
export function cleanResult(text: string): string {
  return redactSecrets(stripAnsiJson(stripAnsi(text)));
}

/** The same of output that is no JSON; of lines that were redrawn, what they showed last. */
export function cleanOutput(text: string): string {
  return collapseRedraws(redactSecrets(stripAnsi(text)));
}

type ResultContext = { callId: string; sandbox(): Promise<SandboxSession>; resultLimit: number };

/**
 * The last step of every tool call. A result over the limit goes to a file of the sandbox; what stays is its beginning
 * and the path. When the file cannot be written the result is cut instead.
 */
export async function finishResult(tool: string, outcome: ToolOutcome, context: ResultContext): Promise<ToolOutcome> {
  const clean = cleanResult(outcome.content);
  const content = REDRAWING.has(tool) ? collapseRedrawsJson(clean) : clean;
  if (Buffer.byteLength(content) <= context.resultLimit || EXEMPT.has(tool)) return { ...outcome, content };
  return { ...outcome, content: await persistResult(content, context) };
}

/** Shortens a result so that it fits together with the other results. */
export type ResultBudget = (
  outcome: ToolOutcome,
  context: { callId: string; sandbox(): Promise<SandboxSession> },
) => Promise<ToolOutcome>;

/**
 * For the results of one reply, of which `used` bytes are there: one that would take them past `limit` goes to a file,
 * whatever tool it is of.
 */
export function buildResultBudget(used: number, limit: number): ResultBudget {
  let total = used;
  return async (outcome, context) => {
    const length = Buffer.byteLength(outcome.content);
    const spilled = total + length > limit && length > SPILL_FROM;
    total += spilled ? PREVIEW : length;
    return spilled ? { ...outcome, content: await persistResult(outcome.content, context) } : outcome;
  };
}

/** Writes a long result to `.capstan/outputs/<callId>.txt` and returns what takes its place. */
export async function persistResult(
  content: string,
  context: { callId: string; sandbox(): Promise<SandboxSession> },
): Promise<string> {
  const path = `.capstan/outputs/${context.callId.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 100)}.txt`;
  const preview = content.slice(0, PREVIEW);
  try {
    const sandbox = await context.sandbox();
    await sandbox.writeFile(path, Buffer.from(content, 'utf8'));
    return (
      `<persisted-output>\nThe result has ${content.length} characters and was saved to ${sandbox.workspace}/${path}. ` +
      `Read parts of it with read_file.\n\nPreview:\n${preview}\n</persisted-output>`
    );
  } catch {
    return `<persisted-output>\nThe result has ${content.length} characters and could not be saved. Its beginning:\n${preview}\n</persisted-output>`;
  }
}
