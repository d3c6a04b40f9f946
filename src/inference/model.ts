import { CapstanError } from '../platform/errors.ts';
import type { UpstreamFormat } from './config.ts';

/** The one internal shape of a model call. Every upstream and client dialect translates to and from it. */

/** `citations` are of a model's text only. */
export type TextPart = { type: 'text'; text: string; citations?: Citation[] };
/**
 * A source that a text refers to. `start` and `end` are characters of its part. `native` is the entry as the upstream sent
 * it, in the format `source`; formats without a form for it leave it out unless it has a URL.
 */
export type Citation = {
  source: UpstreamFormat;
  native: Record<string, unknown>;
  url?: string;
  title?: string;
  start?: number;
  end?: number;
  citedText?: string;
};
/** `data` is base64; `mediaType` is what the bytes are. */
export type ImagePart = { type: 'image'; mediaType: string; data: string; detail?: 'low' | 'high' | 'auto' };
/** Only dialects that support remote images forward the URL. */
export type ImageUrlPart = { type: 'image_url'; url: string; detail?: 'low' | 'high' | 'auto' };
/** A PDF. `data` is base64. */
export type FilePart = { type: 'file'; mediaType: 'application/pdf'; data: string; name?: string };
export type InputPart = TextPart | ImagePart | ImageUrlPart | FilePart;

/**
 * `signature` (messages) and `encrypted` (responses) are opaque and valid only for the upstream that issued them: `issuer`
 * names it, and requests to any other upstream drop them. `redacted` is a block without readable text.
 */
export type ReasoningPart = {
  type: 'reasoning';
  text: string;
  summary?: boolean;
  signature?: string;
  encrypted?: string;
  redacted?: string;
  issuer?: string;
};
/** `arguments` is JSON text as the model wrote it; never empty (`{}` when there are none). */
export type ToolCallPart = { type: 'tool_call'; id: string; name: string; arguments: string };
export type RefusalPart = { type: 'refusal'; text: string };
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | RefusalPart;
export type ToolResult = { callId: string; content: InputPart[]; isError: boolean };

export type ModelMessage =
  | { role: 'system'; content: TextPart[] }
  | { role: 'user'; content: InputPart[] }
  | { role: 'assistant'; content: AssistantPart[] }
  | { role: 'tool'; results: ToolResult[] };

/** `parameters` is a JSON Schema of type object. */
export type ModelTool = { name: string; description: string; parameters: Record<string, unknown>; strict?: boolean };
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string };
export type ResponseFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | { type: 'json_schema'; name: string; schema: Record<string, unknown>; strict?: boolean; description?: string };
/** Sampling parameters besides temperature and top-p. Dropped for upstreams whose format lacks them. */
export type Sampling = {
  seed?: number;
  /** -2 to 2 */
  frequencyPenalty?: number;
  /** -2 to 2 */
  presencePenalty?: number;
  /** by token id */
  logitBias?: Record<string, unknown>;
  topK?: number;
};
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** Optional hints. Formats without a field for a hint omit it. */
export type RequestHints = {
  /** a stable id of the caller's user */
  user?: string;
  verbosity?: string;
  serviceTier?: string;
  metadata?: Record<string, unknown>;
};

export type ModelRequest = {
  /** as the caller named it: `<provider>/<id>` or a name from the configuration's `models` */
  model: string;
  /** further names, tried in order after `model` */
  fallbackModels?: string[];
  /** instructions before the conversation */
  system: string;
  messages: ModelMessage[];
  tools: ModelTool[];
  toolChoice?: ToolChoice;
  parallelToolCalls?: boolean;
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  sampling?: Sampling;
  stop?: string[];
  responseFormat?: ResponseFormat;
  reasoning?: { effort?: ReasoningEffort; budgetTokens?: number };
  /** a stable conversation id: cache affinity between calls */
  cacheKey?: string;
  hints?: RequestHints;
  /** further fields for upstreams with the format chat-completions, as the caller sent them */
  chatFields?: Record<string, unknown>;
  /** how long the upstream should cache the prompt; a hint */
  cacheTtl?: '5m' | '30m' | '1h' | '6h' | '24h';
};

/** Token counts of one call. `input` includes cached tokens, `output` includes reasoning. */
export type ModelUsage = {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  reasoning: number;
};

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'refusal';

/**
 * One streamed reply, in order: `start`, then deltas, then `finish` last and once. Parts are numbered by `index` in the
 * order in which they begin; deltas of two tool calls may interleave, text and reasoning do not.
 */
export type ModelDelta =
  /** `model` is the `<provider>/<id>` that answers, even if the caller named a list */
  | {
      type: 'start';
      id: string;
      model: string;
      /** the upstream's count so far, in case the reply never finishes */
      usage?: ModelUsage;
    }
  | { type: 'text'; index: number; text: string }
  | { type: 'reasoning'; index: number; text: string; summary?: boolean }
  /**
   * Ends a reasoning part that can be returned to its issuer. A part without readable text has no delta before this
   * one.
   */
  | {
      type: 'reasoning_signature';
      index: number;
      signature?: string;
      encrypted?: string;
      redacted?: string;
      issuer: string;
    }
  | { type: 'refusal'; index: number; text: string }
  /** of a text part that has begun */
  | { type: 'citation'; index: number; citation: Citation }
  | { type: 'tool_call'; index: number; id: string; name: string }
  | { type: 'tool_arguments'; index: number; text: string }
  | { type: 'finish'; reason: FinishReason; stopSequence?: string; usage: ModelUsage };

/** A whole reply, collected from deltas. */
export type ModelReply = {
  id: string;
  model: string;
  content: AssistantPart[];
  finish: FinishReason;
  stopSequence?: string;
  usage: ModelUsage;
};

export type ModelErrorCode =
  | 'unknown_model'
  | 'invalid_request'
  | 'authentication'
  | 'context_overflow'
  | 'rate_limited'
  | 'unavailable'
  | 'timeout'
  | 'upstream';

/** Another try, of this or another upstream, may succeed. */
const RETRYABLE: ReadonlySet<ModelErrorCode> = new Set(['rate_limited', 'unavailable', 'timeout', 'upstream']);

/** An error in the upstream's own words: identifiers only, no text. */
export type UpstreamErrorCodes = { code?: string; type?: string; requestId?: string };

const CONTENT_POLICY = /content_?(policy|filter)|moderation|safety|responsible_?ai/i;

/** A failed model call. The message may be shown to callers: it contains no key and no URL. */
export class ModelError extends CapstanError<ModelErrorCode> {
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  readonly upstream: UpstreamErrorCodes;

  constructor(
    code: ModelErrorCode,
    message: string,
    options: { retryAfterMs?: number; status?: number; upstream?: UpstreamErrorCodes; cause?: unknown } = {},
  ) {
    super(code, message, { cause: options.cause, retryable: RETRYABLE.has(code) });
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
    this.upstream = options.upstream ?? {};
  }

  /** Whether the upstream rejected the content by its policy. */
  get isContentPolicy(): boolean {
    return CONTENT_POLICY.test(`${this.upstream.code ?? ''} ${this.upstream.type ?? ''}`);
  }
}

/** US dollars per million tokens. */
type Amounts = { input: number; output: number; cacheRead?: number | undefined; cacheWrite?: number | undefined };

/** `longContext` applies to all tokens of a call whose prompt has more than `from` tokens. */
export type Price = Amounts & { longContext?: (Amounts & { from: number }) | undefined };

/** The properties of a model. */
export type ModelInfo = {
  name: string;
  contextWindow: number;
  vision: boolean;
  maxOutputTokens?: number;
  price?: Price;
  /** accepted reasoning efforts, ascending; empty: none; absent: unknown */
  efforts?: readonly ReasoningEffort[];
};

/** Overrides of the configuration for one call. */
export type CallOptions = {
  /** tries of each upstream, the first included */
  attempts?: number;
  /** an upstream that is silent for this long has failed; only shortens its configured timeout */
  silenceMs?: number;
  /** the organization that calls; circuit breakers and retry budgets are kept for each */
  organization?: string;
  /** receives the id of the provider's response before its first delta */
  onRequestId?: (requestId: string) => void;
};

/** Model calls by name, with retries and fallback before the first delta. */
export type Inference = {
  /** The same with the organization's own providers. */
  forOrganization(organization: string): Inference;
  /** Undefined if no provider serves the model. */
  findModel(model: string): ModelInfo | undefined;
  /** Ends with `finish` or throws a `ModelError`; ends at once when `signal` aborts (throws its reason). */
  stream(request: ModelRequest, signal: AbortSignal, options?: CallOptions): AsyncIterable<ModelDelta>;
  close(): Promise<void>;
};
