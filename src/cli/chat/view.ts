import type { Writable } from 'node:stream';
import { isLiveOnly } from '../../../clients/typescript/index.ts';
import type { EventEnvelope } from '../../../clients/typescript/index.ts';
import { describeInput, describeOutcome, joinText, readPayload } from '../describe-event.ts';
import { cleanText, cutLine, paint } from '../text.ts';

/** Prints a conversation as it happens. */
export type View = {
  show(event: EventEnvelope): void;
  /** a line of our own, painted or not */
  note(text: string): void;
  /** leaves a blank line for a prompt */
  makeRoom(): void;
  /** the person's own prompts stand on the screen already */
  hidePrompt(eventId: string): void;
};

const MIN_WIDTH = 40;

function describeTokens(total: number): string {
  return total >= 1000 ? `${(total / 1000).toFixed(1)}k tokens` : `${total} tokens`;
}

function describeTime(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms)} ms`;
}

export function openView(out: Writable & { columns?: number }): View {
  /** what the last thing printed was, so that blank lines stand between things of different kinds only */
  let block = '';
  let atLineStart = true;
  /** the message that is being streamed, and how much of its text is out */
  let streaming = { id: '', length: 0 };
  /** the call that the next result would belong to without saying so */
  let lastUse = '';
  const hidden = new Set<string>();

  const width = () => Math.max(MIN_WIDTH, out.columns ?? 120);

  function write(text: string): void {
    if (text === '') return;
    out.write(text);
    atLineStart = text.endsWith('\n');
  }

  function begin(kind: string): void {
    if (!atLineStart) write('\n');
    if (block !== kind && block !== '') write('\n');
    block = kind;
  }

  function writeThought(text: string): void {
    const pieces = text.split('\n');
    pieces.forEach((piece, index) => {
      if (index > 0) write('\n');
      if (piece === '') return;
      out.write(`${atLineStart ? paint('dim', '┆ ') : ''}${paint(['dim', 'italic'], piece)}`);
      atLineStart = false;
    });
  }

  /** A piece of a message, or its whole text: what is out already is not printed again. */
  function showText(event: EventEnvelope, kind: string, text: string, writeText: (text: string) => void): void {
    const isNew = streaming.id !== event.id;
    if (isNew) {
      begin(`${kind} ${event.id}`);
      streaming = { id: event.id, length: 0 };
    }
    const isDelta = isLiveOnly(event);
    const fresh = isDelta ? text : text.slice(streaming.length);
    streaming.length += fresh.length;
    writeText(cleanText(fresh));
    if (!isDelta && !atLineStart) write('\n');
  }

  function showUse(id: string, name: string, input: unknown, permission: string): void {
    begin('tools');
    lastUse = id;
    const what = cutLine(describeInput(input), width() - name.length - 6);
    const mark = permission === 'deny' ? paint('red', '●') : paint('green', '●');
    write(
      `${mark} ${paint('bold', name)}  ${what}`.trimEnd() +
        (permission === 'deny' ? paint('dim', ' (not allowed)') : '') +
        '\n',
    );
  }

  function showResult(result: {
    tool_use_id: string;
    name: string;
    content: { type: 'text'; text: string }[];
    is_error: boolean;
    duration_ms: number;
  }): void {
    begin('tools');
    const whose = result.tool_use_id === lastUse ? '' : `${result.name}: `;
    const took = result.duration_ms >= 1000 ? ` · ${(result.duration_ms / 1000).toFixed(1)} s` : '';
    const outcome = cutLine(`${whose}${describeOutcome(result.content)}`, width() - 6 - took.length);
    write(
      `  ${paint('dim', '└')} ${result.is_error ? paint('red', outcome) : paint('dim', outcome)}${paint('dim', took)}\n`,
    );
  }

  function showThread(what: string, text: string): void {
    begin('tools');
    write(`${paint('dim', `· ${cutLine(`${what}: ${cleanText(text).replaceAll(/\s+/g, ' ')}`, width() - 4)}`)}\n`);
  }

  return {
    show(event) {
      const payload = readPayload(event);
      switch (payload.type) {
        case 'user.message':
          if (hidden.delete(event.id)) return;
          begin(event.id);
          return write(`${paint('cyan', '›')} ${cleanText(joinText(payload.content)).replaceAll('\n', '\n  ')}\n`);
        case 'agent.message':
          return showText(event, 'message', joinText(payload.content), write);
        case 'agent.thinking':
          return showText(event, 'thinking', joinText(payload.content), writeThought);
        case 'agent.tool_use':
        case 'agent.mcp_tool_use':
          if (isLiveOnly(event)) return;
          return showUse(payload.id, payload.name, payload.input, payload.evaluated_permission);
        case 'agent.custom_tool_use':
          return showUse(payload.id, payload.name, payload.input, 'allow');
        case 'agent.tool_result':
        case 'agent.mcp_tool_result':
          return showResult(payload);
        case 'agent.thread_message_sent':
          return showThread('subagent', joinText(payload.content));
        case 'agent.thread_message_received':
          return showThread(`subagent ${payload.status}`, joinText(payload.content));
        case 'agent.message_discarded':
          if (streaming.id !== payload.id) return;
          streaming = { id: '', length: 0 };
          begin('note');
          return write(`${paint('dim', '· the reply broke off; it starts again')}\n`);
        case 'mcp.server_unavailable':
          begin('note');
          return write(`${paint('yellow', '!')} ${cleanText(`MCP server ${payload.serverName}: ${payload.reason}`)}\n`);
        case 'session.compacted':
          begin('note');
          return write(`${paint('dim', '· earlier messages were summed up to make room')}\n`);
        case 'session.status_idle': {
          const { stop_reason: stop, interrupted, usage } = payload;
          if (stop.type === 'requires_action') return;
          begin('end');
          if (stop.type === 'error') write(`${paint('red', '✗')} ${cleanText(stop.message)}\n`);
          const parts = [
            interrupted === true ? 'interrupted' : '',
            usage?.total === undefined ? '' : describeTokens(usage.total),
            (usage?.cost_usd ?? 0) === 0 ? '' : `$${(usage?.cost_usd ?? 0).toFixed(4)}`,
            usage?.latency_ms === undefined ? '' : describeTime(usage.latency_ms),
          ].filter((part) => part !== '');
          if (parts.length > 0) write(`${paint('dim', `· ${parts.join(' · ')}`)}\n`);
          return;
        }
        default:
          return;
      }
    },
    note(text) {
      begin('note');
      write(`${text}\n`);
    },
    makeRoom: () => begin('prompt'),
    hidePrompt: (eventId) => void hidden.add(eventId),
  };
}
