import type { ModelMessage, ToolResult } from './model.ts';

export type ScriptCall = { name: string; arguments: string };
export type ScriptReply = { thoughts: string[]; calls: ScriptCall[]; text: string; failure?: string };

/** Characters of one result that a summary quotes. */
const QUOTE_LIMIT = 2000;

type Line = { call: ScriptCall } | { thought: string } | { failure: string };

function readLine(line: string): Line | undefined {
  const [, word = '', rest = ''] = /^(run|ask|think|fail):\s*([^]*)$/.exec(line) ?? [];
  switch (word) {
    case 'run':
      return { call: { name: 'terminal', arguments: JSON.stringify({ command: rest }) } };
    case 'ask':
      return { call: { name: 'clarify', arguments: JSON.stringify({ question: rest }) } };
    case 'think':
      return { thought: rest };
    case 'fail':
      return { failure: rest };
  }
  const [, path, content = ''] = /^write ([^:]+):\s?(.*)$/.exec(line) ?? [];
  if (path !== undefined)
    return { call: { name: 'write_file', arguments: JSON.stringify({ path: path.trim(), content }) } };
  const [, name, json = ''] = /^call (\S+)\s*([^]*)$/.exec(line) ?? [];
  // The text is not validated, so that malformed arguments can be tested.
  return name === undefined ? undefined : { call: { name, arguments: json } };
}

/**
 * Interprets a prompt line by line: `run: <command>`, `write <path>: <text>`, `ask: <question>` and
 * `call <tool> <json>` are tool calls, in order, where the tool is offered; `think: <text>` is reasoning; `fail: <text>`
 * refuses the request. A prompt without any call is echoed.
 */
export function decideScript(prompt: string, offered: readonly string[]): ScriptReply {
  const thoughts: string[] = [];
  const calls: ScriptCall[] = [];
  const others: string[] = [];
  for (const text of prompt.split(/\r?\n/)) {
    const line = readLine(text.trim());
    if (line !== undefined && 'failure' in line) return { thoughts: [], calls: [], text: '', failure: line.failure };
    if (line !== undefined && 'thought' in line) thoughts.push(line.thought);
    else if (line !== undefined && offered.includes(line.call.name)) calls.push(line.call);
    else others.push(text);
  }
  return { thoughts, calls, text: calls.length > 0 ? '' : `You said: ${others.join('\n').trim()}` };
}

/** A long field of a result in plain text: behind a header, from a line with its name on. */
function findField(text: string, name: string): string | undefined {
  const start = `${name}:\n`;
  if (text.startsWith(start)) return text.slice(start.length);
  const at = text.startsWith('{') ? text.indexOf(`\n\n${start}`) : -1;
  return at === -1 ? undefined : text.slice(at + 2 + start.length);
}

/** The result's `output`, or its `error`, or the whole text. */
function quoteResult(result: ToolResult): string {
  const text = result.content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n');
  let shown = text;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) {
      if ('output' in value && typeof value.output === 'string') shown = value.output;
      else if ('error' in value && typeof value.error === 'string') shown = value.error;
    }
  } catch {
    shown = findField(text, 'output') ?? findField(text, 'error') ?? text;
  }
  shown = shown.trimEnd();
  return shown.length > QUOTE_LIMIT ? `${shown.slice(0, QUOTE_LIMIT)}…` : shown;
}

/** One line per result: the tool, whether it failed, and its output. */
export function summarizeResults(messages: readonly ModelMessage[], results: readonly ToolResult[]): string {
  const names = new Map<string, string>();
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content) if (part.type === 'tool_call') names.set(part.id, part.name);
  }
  const lines = results.map((result) => {
    const name = names.get(result.callId) ?? 'tool';
    return `${name}${result.isError ? ' failed' : ''}: ${quoteResult(result)}`;
  });
  return lines.join('\n');
}
