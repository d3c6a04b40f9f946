// Tests: test/console
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return (end === -1 ? text : `${text.slice(0, end)} …`).slice(0, 300);
}

/** A call in one line: its command, its path, or the first text of its input. */
export function summarizeInput(input: unknown): string {
  if (typeof input === 'string') return firstLine(input);
  if (!isRecord(input)) return '';
  for (const name of ['command', 'path', 'file_path', 'url', 'query', 'pattern', 'question', 'task']) {
    const value = input[name];
    if (typeof value === 'string') return firstLine(value);
  }
  const first = Object.values(input).find((value) => typeof value === 'string');
  return typeof first === 'string' ? firstLine(first) : '';
}

export function nameTool({ name, mcp_server_name: server }: { name: string; mcp_server_name?: string }): string {
  return server === undefined ? name : `${server} > ${name}`;
}

export type Output =
  | { kind: 'terminal'; text: string; exitCode: number | undefined }
  | { kind: 'diff'; patch: string }
  | { kind: 'json'; value: unknown }
  | { kind: 'text'; text: string };

/** Longer results are not parsed as JSON but shown as text. */
const MAX_JSON = 200_000;

/** The best view of a result: tools answer in JSON, whose `output` or `diff` matters most. */
export function readOutput(text: string): Output {
  if (text.length > MAX_JSON || !/^\s*[[{]/.test(text)) return { kind: 'text', text };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'text', text };
  }
  if (isRecord(value)) {
    if (typeof value['diff'] === 'string' && value['diff'] !== '') return { kind: 'diff', patch: value['diff'] };
    if (typeof value['output'] === 'string') {
      const exitCode = typeof value['exit_code'] === 'number' ? value['exit_code'] : undefined;
      return { kind: 'terminal', text: value['output'], exitCode };
    }
  }
  return { kind: 'json', value };
}
