import type { EventEnvelope, TextBlock } from '../../clients/typescript/index.ts';
import { callByType } from './payload-table.ts';
import type { PayloadTable } from './payload-table.ts';

export function joinText(content: readonly TextBlock[]): string {
  return content.map((block) => block.text).join('\n');
}

/** The field that says most of a tool's input, in this order. */
const TELLING = ['command', 'path', 'pattern', 'query', 'question', 'url', 'action', 'name'];

/** What a tool is asked to do. */
export function describeInput(input: unknown): string {
  if (typeof input !== 'object' || input === null) return input === undefined ? '' : JSON.stringify(input);
  const fields = Object.entries(input);
  if (fields.length === 0) return '';
  for (const name of TELLING) {
    const value = (input as Record<string, unknown>)[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return JSON.stringify(input);
}

function firstLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const more = lines.length - 1;
  return `${lines[0]?.trim() ?? ''}${more > 0 ? `  (+${more} line${more === 1 ? '' : 's'})` : ''}`;
}

/** The outcome of a tool call in one line. */
export function describeOutcome(content: readonly TextBlock[]): string {
  const text = joinText(content);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return firstLine(text);
  }
  if (typeof value !== 'object' || value === null) return firstLine(text);
  const fields = value as Record<string, unknown>;
  const exit =
    typeof fields['exit_code'] === 'number' && fields['exit_code'] !== 0 ? `exit ${fields['exit_code']}` : '';
  for (const name of ['error', 'output', 'content', 'message', 'user_response']) {
    const said = fields[name];
    if (typeof said === 'string' && said !== '')
      return [exit, firstLine(said)].filter((part) => part !== '').join(' · ');
  }
  if ('output' in fields) return exit || 'no output';
  return Object.entries(fields)
    .filter(([, item]) => item !== null && item !== false && typeof item !== 'object')
    .map(([name, item]) => `${name.replaceAll('_', ' ')} ${String(item)}`)
    .join(' · ');
}

const describeText = ({ content }: { content: readonly TextBlock[] }): string => joinText(content);

const describeUse = ({ name, input }: { name: string; input: unknown }): string => `${name}  ${describeInput(input)}`;

type ToolResult = { name: string; is_error: boolean; content: readonly TextBlock[] };

const describeResult = (result: ToolResult): string =>
  `${result.name}  ${result.is_error ? 'failed: ' : ''}${describeOutcome(result.content)}`;

const DESCRIPTIONS: PayloadTable<string> = {
  'user.message': describeText,
  'agent.message': describeText,
  'agent.thinking': describeText,
  'agent.thread_message_sent': describeText,
  'agent.thread_message_received': describeText,
  'agent.tool_use': describeUse,
  'agent.mcp_tool_use': describeUse,
  'agent.custom_tool_use': describeUse,
  'agent.tool_result': describeResult,
  'agent.mcp_tool_result': describeResult,
  'mcp.server_unavailable': ({ serverName, reason }) => `${serverName}  ${reason}`,
  'session.waiting': ({ reason, retryAt }) => `${reason} Next try at ${retryAt}`,
  'agent.message_discarded': ({ id }) => `${id}  the reply broke off`,
  'agent.tool_output': describeText,
  'agent.approval_request': (request) => `${request.tool_name}  ${describeInput(request.input)}`,
  'agent.clarify_request': ({ question }) => question,
  'user.approval_response': ({ result, scope }) => `${result} ${scope}`,
  'user.clarify_result': ({ answer }) => answer,
  'user.custom_tool_result': ({ status, content }) => `${status ?? ''} ${joinText(content)}`.trim(),
  'user.steer': ({ message }) => message,
  'user.interrupt': ({ message }) => message ?? '',
  'session.title_updated': ({ title }) => title,
  'session.status_idle': ({ stop_reason: stop, interrupted }) => {
    if (stop.type === 'error') return `error: ${stop.message}`;
    if (stop.type === 'budget_reached') return `the budget of the ${stop.budget.scope} is used up`;
    return interrupted === true ? 'interrupted' : stop.type;
  },
};

/** The gist of any event in one line. */
export function describeEvent(event: EventEnvelope): string {
  const known = callByType(DESCRIPTIONS, event);
  if (known !== undefined) return known;
  const { type: _type, ...rest } = event.payload;
  return Object.keys(rest).length === 0 ? '' : JSON.stringify(rest);
}
