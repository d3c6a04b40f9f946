import type { Writable } from 'node:stream';
import { isLiveOnly } from '../../../clients/typescript/index.ts';
import type { EventEnvelope, TextBlock } from '../../../clients/typescript/index.ts';
import { describeInput, describeOutcome, joinText } from '../describe-event.ts';
import { callByType } from '../payload-table.ts';
import type { Payload, PayloadTable } from '../payload-table.ts';
import { cleanText, cutLine, paint } from '../text.ts';
import { openMarkdownPainter } from './markdown.ts';
import { openSpinner } from './spinner.ts';
import type { Spinner } from './spinner.ts';

/** Prints a conversation as it happens. */
export type View = {
  show(event: EventEnvelope): void;
  /** a line of our own, painted or not */
  note(text: string): void;
  /** leaves a blank line for a prompt */
  makeRoom(): void;
  /** the person's own prompts stand on the screen already */
  hidePrompt(eventId: string): void;
  /** shows that the session works, until `rest` */
  work(): void;
  rest(): void;
};

const MIN_WIDTH = 40;
/** Lines of one piece of output; the result says how many there were. */
const OUTPUT_LINES = 8;

/** What a conversation is printed to. */
export type Screen = Writable & { columns?: number; isTTY?: boolean };

function describeTokens(total: number): string {
  return total >= 1000 ? `${(total / 1000).toFixed(1)}k tokens` : `${total} tokens`;
}

function describeTime(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms)} ms`;
}

/** `09:30:05`, local time. */
function showClock(timestamp: string): string {
  return new Date(timestamp).toLocaleTimeString('en-GB');
}

type WriteText = (text: string, isEnd: boolean) => void;

type ToolResult = {
  tool_use_id: string;
  name: string;
  content: { type: 'text'; text: string }[];
  is_error: boolean;
  duration_ms: number;
};

type Idle = Extract<Payload, { type: 'session.status_idle' }>;

class ConversationView implements View {
  readonly #out: Screen;
  /** the kind of the last thing printed: blank lines stand only between things of different kinds */
  #block = '';
  #atLineStart = true;
  /** the message that is being streamed, and how much of its text is printed */
  #streaming = { id: '', length: 0 };
  /** the call that the next result belongs to unless it names another one */
  #lastUse = '';
  readonly #hidden = new Set<string>();
  readonly #printers: PayloadTable<void>;
  readonly #markdown = openMarkdownPainter();
  /** only on a terminal */
  readonly #spinner: Spinner | undefined;

  constructor(out: Screen) {
    this.#out = out;
    if (out.isTTY === true) this.#spinner = openSpinner(out, () => this.#atLineStart);
    this.#printers = this.#buildPrinters();
  }

  show(event: EventEnvelope): void {
    callByType(this.#printers, event);
  }

  note(text: string): void {
    this.#begin('note');
    this.#write(`${text}\n`);
  }

  makeRoom(): void {
    this.#begin('prompt');
  }

  hidePrompt(eventId: string): void {
    this.#hidden.add(eventId);
  }

  work(): void {
    this.#spinner?.show('working');
  }

  rest(): void {
    this.#spinner?.stop();
  }

  #buildPrinters(): PayloadTable<void> {
    const writeMessage = (text: string, isEnd: boolean): void => this.#writeMessage(text, isEnd);
    const writeThought = (text: string): void => this.#writeThought(text);
    return {
      'user.message': ({ content }, { id }) => this.#showPrompt(id, joinText(content)),
      'agent.message': ({ content }, event) => this.#showText(event, 'message', joinText(content), writeMessage),
      'agent.thinking': ({ content }, event) => this.#showText(event, 'thinking', joinText(content), writeThought),
      'agent.tool_use': (use, event) => this.#showDurableUse(use, event),
      'agent.mcp_tool_use': (use, event) => this.#showDurableUse(use, event),
      'agent.custom_tool_use': (use) => this.#showUse(use, 'allow'),
      'agent.tool_output': (output) => this.#showOutput(output),
      'agent.tool_result': (result) => this.#showResult(result),
      'agent.mcp_tool_result': (result) => this.#showResult(result),
      'agent.thread_message_sent': ({ content }) => this.#showThread('subagent', joinText(content)),
      'agent.thread_message_received': ({ status, content }) =>
        this.#showThread(`subagent ${status}`, joinText(content)),
      'agent.message_discarded': ({ id }) => this.#showDiscarded(id),
      'session.waiting': ({ reason, retryAt }) => {
        this.note(`${paint('yellow', '!')} ${cleanText(reason)} Next try at ${showClock(retryAt)}.`);
        this.#spinner?.show('waiting for the model provider');
      },
      'mcp.server_unavailable': ({ serverName, reason }) =>
        this.note(`${paint('yellow', '!')} ${cleanText(`MCP server ${serverName}: ${reason}`)}`),
      'session.compacted': () => this.note(paint('dim', '· earlier messages were summed up to make room')),
      'session.status_idle': (idle) => this.#showEnd(idle),
    };
  }

  #width(): number {
    return Math.max(MIN_WIDTH, this.#out.columns ?? 120);
  }

  #write(text: string): void {
    if (text === '') return;
    this.#spinner?.clear();
    this.#out.write(text);
    this.#atLineStart = text.endsWith('\n');
  }

  #begin(kind: string): void {
    if (!this.#atLineStart) this.#write('\n');
    if (this.#block !== kind && this.#block !== '') this.#write('\n');
    this.#block = kind;
  }

  /** Markdown is painted on a terminal only: others get what the model wrote. */
  #writeMessage(text: string, isEnd: boolean): void {
    if (this.#out.isTTY !== true) return this.#write(text);
    this.#write(this.#markdown.push(text));
    if (isEnd) this.#write(this.#markdown.end());
  }

  #writeThought(text: string): void {
    this.#spinner?.clear();
    const pieces = text.split('\n');
    pieces.forEach((piece, index) => {
      if (index > 0) this.#write('\n');
      if (piece === '') return;
      this.#out.write(`${this.#atLineStart ? paint('dim', '┆ ') : ''}${paint(['dim', 'italic'], piece)}`);
      this.#atLineStart = false;
    });
  }

  #showPrompt(id: string, text: string): void {
    if (this.#hidden.delete(id)) return;
    this.#begin(id);
    this.#write(`${paint('cyan', '›')} ${cleanText(text).replaceAll('\n', '\n  ')}\n`);
  }

  /** A piece of a message, or its whole text: what is printed already is not printed again. */
  #showText(event: EventEnvelope, kind: string, text: string, writeText: WriteText): void {
    if (this.#streaming.id !== event.id) {
      if (this.#out.isTTY === true) this.#write(this.#markdown.end());
      this.#begin(`${kind} ${event.id}`);
      this.#streaming = { id: event.id, length: 0 };
    }
    const isDelta = isLiveOnly(event);
    const fresh = isDelta ? text : text.slice(this.#streaming.length);
    this.#streaming.length += fresh.length;
    writeText(cleanText(fresh), !isDelta);
    this.#spinner?.show('working');
    if (!isDelta && !this.#atLineStart) this.#write('\n');
  }

  /** A use that is still being streamed is shown once it is complete. */
  #showDurableUse(
    use: { id: string; name: string; input: unknown; evaluated_permission: string },
    event: EventEnvelope,
  ): void {
    if (!isLiveOnly(event)) this.#showUse(use, use.evaluated_permission);
  }

  #showUse({ id, name, input }: { id: string; name: string; input: unknown }, permission: string): void {
    this.#begin('tools');
    this.#lastUse = id;
    const what = cutLine(describeInput(input), this.#width() - name.length - 6);
    const bullet = permission === 'deny' ? paint('red', '●') : paint('green', '●');
    const denied = permission === 'deny' ? paint('dim', ' (not allowed)') : '';
    this.#write(`${`${bullet} ${paint('bold', name)}  ${what}`.trimEnd()}${denied}\n`);
    this.#spinner?.show(cleanText(name));
  }

  /** The last lines that a running command has printed, on a terminal. */
  #showOutput({ content }: { content: readonly TextBlock[] }): void {
    if (this.#out.isTTY !== true) return;
    this.#begin('tools');
    const lines = joinText(content).trimEnd().split('\n').slice(-OUTPUT_LINES);
    for (const line of lines) this.#write(`  ${paint('dim', `│ ${cutLine(line, this.#width() - 6)}`)}\n`);
  }

  #showResult(result: ToolResult): void {
    this.#begin('tools');
    const whose = result.tool_use_id === this.#lastUse ? '' : `${result.name}: `;
    const took = result.duration_ms >= 1000 ? ` · ${(result.duration_ms / 1000).toFixed(1)} s` : '';
    const outcome = cutLine(`${whose}${describeOutcome(result.content)}`, this.#width() - 6 - took.length);
    const painted = result.is_error ? paint('red', outcome) : paint('dim', outcome);
    this.#write(`  ${paint('dim', '└')} ${painted}${paint('dim', took)}\n`);
    this.#spinner?.show('working');
  }

  #showThread(what: string, text: string): void {
    this.#begin('tools');
    const line = cutLine(`${what}: ${cleanText(text).replaceAll(/\s+/g, ' ')}`, this.#width() - 4);
    this.#write(`${paint('dim', `· ${line}`)}\n`);
  }

  #showDiscarded(id: string): void {
    if (this.#streaming.id !== id) return;
    this.#streaming = { id: '', length: 0 };
    this.#markdown.end();
    this.note(paint('dim', '· the reply broke off; it starts again'));
  }

  #showEnd({ stop_reason: stop, interrupted, usage }: Idle): void {
    if (stop.type === 'requires_action') return;
    this.#begin('end');
    if (stop.type === 'error') this.#write(`${paint('red', '✗')} ${cleanText(stop.message)}\n`);
    if (stop.type === 'budget_reached') {
      const { scope, limitUsd } = stop.budget;
      this.#write(`${paint('red', '✗')} The budget of the ${scope} is used up: $${limitUsd}.\n`);
    }
    const cost = usage?.cost_usd ?? 0;
    const parts = [
      interrupted === true ? 'interrupted' : '',
      usage?.total === undefined ? '' : describeTokens(usage.total),
      cost === 0 ? '' : `$${cost.toFixed(4)}`,
      usage?.latency_ms === undefined ? '' : describeTime(usage.latency_ms),
    ].filter((part) => part !== '');
    if (parts.length > 0) this.#write(`${paint('dim', `· ${parts.join(' · ')}`)}\n`);
  }
}

export function openView(out: Screen): View {
  return new ConversationView(out);
}
