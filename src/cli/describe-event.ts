import type { EventEnvelope, InboundEvent, OutboundPayload, TextBlock } from '../../clients/typescript/index.ts';

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

/** What came of a tool, in one line. */
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

/** The payload of an event, told apart by its type. */
export function readPayload(event: EventEnvelope): OutboundPayload | InboundEvent | { type: 'other' } {
  return event.payload;
}

/** The gist of any event in one line. */
export function describeEvent(event: EventEnvelope): string {
  const payload = readPayload(event);
  switch (payload.type) {
    case 'user.message':
    case 'agent.message':
    case 'agent.thinking':
    case 'agent.thread_message_sent':
    case 'agent.thread_message_received':
      return joinText(payload.content);
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
    case 'agent.custom_tool_use':
      return `${payload.name}  ${describeInput(payload.input)}`;
    case 'agent.tool_result':
    case 'agent.mcp_tool_result':
      return `${payload.name}  ${payload.is_error ? 'failed: ' : ''}${describeOutcome(payload.content)}`;
    case 'mcp.server_unavailable':
      return `${payload.serverName}  ${payload.reason}`;
    case 'agent.message_discarded':
      return `${payload.id}  the reply broke off`;
    case 'agent.approval_request':
      return `${payload.tool_name}  ${describeInput(payload.input)}`;
    case 'agent.clarify_request':
      return payload.question;
    case 'user.approval_response':
      return `${payload.result} ${payload.scope}`;
    case 'user.clarify_result':
      return payload.answer;
    case 'user.custom_tool_result':
      return `${payload.status ?? ''} ${joinText(payload.content)}`.trim();
    case 'user.steer':
    case 'user.interrupt':
      return payload.message ?? '';
    case 'session.title_updated':
      return payload.title;
    case 'session.status_idle': {
      const { stop_reason: stop, interrupted } = payload;
      if (stop.type === 'error') return `error: ${stop.message}`;
      return interrupted === true ? 'interrupted' : stop.type;
    }
    default: {
      const { type: _type, ...rest } = event.payload;
      return Object.keys(rest).length === 0 ? '' : JSON.stringify(rest);
    }
  }
}
