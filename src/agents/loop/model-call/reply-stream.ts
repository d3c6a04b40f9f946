import { Allow, parse as parsePartial } from 'partial-json';
import { BUILTIN_TOOL_NAMES, findToolset } from '../../contract/toolsets.ts';
import { newId } from '../../../platform/ids.ts';
import type { ModelDelta } from '../../../inference/model.ts';
import type { StepCall } from '../../log/event.ts';
import { buildUsePayload } from '../../log/build-events.ts';
import type { OfferedMcpTool } from '../tool-calls/mcp.ts';
import type { LiveFrames } from '../turn/live.ts';
import type { CutText } from './cut-text.ts';

/** Tools of MCP servers in the request, by the names that the model uses. */
export type OfferedMcpTools = ReadonlyMap<string, OfferedMcpTool>;

type ContentDelta = Exclude<ModelDelta, { type: 'start' } | { type: 'finish' }>;
/** What a request holds beyond the log: guidance up to this sequence, and a text to continue. */
type ReplyOrigin = { guidance?: number | undefined; cut?: CutText | undefined };

type Preview = { call: Pick<StepCall, 'name' | 'mcp'>; text: string; shown: number };

/** The MCP target of a call, if its name belongs to an MCP server. */
export function findTarget(name: string, offered: OfferedMcpTools): Pick<StepCall, 'mcp'> {
  const target = offered.get(name)?.target;
  return target === undefined ? {} : { mcp: target };
}

/** One model reply while it streams: the ids of its events, its text so far, and the live frames for watchers. */
export class ReplyStream {
  /** how the reply started, once it has */
  start: Extract<ModelDelta, { type: 'start' }> | undefined;
  /** when the first piece came */
  firstTokenAt: Date | undefined;
  /** the text so far, by the index of the part */
  readonly texts = new Map<number, string>();
  readonly #ids = new Map<number, string>();
  readonly #previews = new Map<number, Preview>();
  readonly #frames: LiveFrames;
  readonly #offered: OfferedMcpTools;
  /** the request holds the guidance up to this sequence, beyond what tool results carry */
  readonly guidance: number;
  /** the text that this reply continues */
  readonly cut: CutText | undefined;
  /** the part that continues it */
  #continuing: number | undefined;

  constructor(frames: LiveFrames, offered: OfferedMcpTools, { guidance, cut }: ReplyOrigin = {}) {
    this.#frames = frames;
    this.#offered = offered;
    this.guidance = guidance ?? 0;
    this.cut = cut;
  }

  /** Whether text was added to what it continues. */
  get hasContinued(): boolean {
    return this.#continuing !== undefined;
  }

  /** The place of the reply's first part in its message. */
  get firstPart(): number {
    return this.cut?.parts ?? 0;
  }

  /** The text of a part, with the text that it continues. */
  textOf(index: number, text: string): string {
    return index === this.#continuing ? (this.cut?.text ?? '') + text : text;
  }

  get isEmpty(): boolean {
    return this.#ids.size === 0;
  }

  /** The ids of all parts so far. */
  ids(): string[] {
    return [...this.#ids.values()];
  }

  /** The event id of a part; the same in live frames and in the log. */
  idOf(index: number): string {
    const id = this.#ids.get(index) ?? newId('evt');
    this.#ids.set(index, id);
    return id;
  }

  receive(delta: ModelDelta): void {
    if (delta.type === 'start') this.start = delta;
    else this.firstTokenAt ??= new Date();
    if (delta.type === 'start' || delta.type === 'finish') return;
    if (delta.type === 'text' && this.cut !== undefined && this.#continuing === undefined) {
      this.#continuing = delta.index;
      this.#ids.set(delta.index, this.cut.id);
    }
    this.#send(delta, this.idOf(delta.index));
    if (delta.type === 'text') this.texts.set(delta.index, (this.texts.get(delta.index) ?? '') + delta.text);
  }

  #send(delta: ContentDelta, id: string): void {
    switch (delta.type) {
      case 'text':
      case 'refusal':
        return this.#frames.sendText('agent.message', id, delta.text);
      case 'reasoning':
        return this.#frames.sendText('agent.thinking', id, delta.text);
      case 'tool_call':
        return this.#openPreview(delta.index, delta.name);
      case 'tool_arguments':
        return this.#extendPreview(delta.index, delta.text);
      case 'reasoning_signature':
        // Stored, not shown.
        return undefined;
    }
  }

  #openPreview(index: number, name: string): void {
    const call = { name, ...findTarget(name, this.#offered) };
    const isBuiltin = BUILTIN_TOOL_NAMES.includes(name) && name !== 'clarify';
    if (!isBuiltin && call.mcp === undefined) return;
    this.#previews.set(index, { call, text: '', shown: 0 });
    this.#sendPreview(index, call, {});
  }

  // Each preview repeats the whole input, so they are sent at growing intervals.
  #extendPreview(index: number, text: string): void {
    const preview = this.#previews.get(index);
    if (preview === undefined) return;
    preview.text += text;
    if (preview.text.length < preview.shown * 1.5 + 64) return;
    preview.shown = preview.text.length;
    const input = parseInput(preview.text);
    if (input !== undefined) this.#sendPreview(index, preview.call, input);
  }

  #sendPreview(index: number, call: Pick<StepCall, 'name' | 'mcp'>, input: unknown): void {
    const useId = this.idOf(index);
    const toolset = call.mcp === undefined ? (findToolset(call.name) ?? null) : null;
    this.#frames.sendPreview(useId, buildUsePayload({ ...call, useId }, { toolset, input, permission: 'ask' }));
  }
}

function parseInput(text: string): unknown {
  try {
    return parsePartial(text, Allow.ALL);
  } catch {
    return undefined;
  }
}
