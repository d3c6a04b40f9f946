import { CapstanError } from '../platform/errors.ts';

/** The one internal shape of a model call. Every upstream and client dialect translates to and from it. */

export type TextPart = { type: 'text'; text: string };
/** `data` is base64; `mediaType` is what the bytes are. */
export type ImagePart = { type: 'image'; mediaType: string; data: string; detail?: 'low' | 'high' | 'auto' };
/** A remote image is passed on by address only by dialects that can carry it. */
export type ImageUrlPart = { type: 'image_url'; url: string; detail?: 'low' | 'high' | 'auto' };
export type InputPart = TextPart | ImagePart | ImageUrlPart;

/**
 * `signature` (messages) and `encrypted` (responses) are opaque proofs, valid only for the upstream that issued them:
 * `issuer` names it, and a request to any other drops them. `redacted` is a block that has no readable text at all.
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
/** How to choose among tokens, beyond temperature and top-p; upstreams whose format lacks one do without it. */
export type Sampling = {
  seed?: number;
  /** -2 to 2 */
  frequencyPenalty?: number;
  /** -2 to 2 */
  presencePenalty?: number;
  /** by id of the token */
  logitBias?: Record<string, unknown>;
  topK?: number;
};
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';

export type ModelRequest = {
  /** as the caller named it: `<provider>/<id>` or a name from the configuration's `models` */
  model: string;
  /** instructions ahead of the conversation */
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
  /** how long the upstream should keep what it has cached; a hint */
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
  /** `model` is `<provider>/<id>` of the one that answers, also where the caller named a list */
  | {
      type: 'start';
      id: string;
      model: string;
      /** what the upstream has counted by now, should the reply never finish */
      usage?: ModelUsage;
    }
  | { type: 'text'; index: number; text: string }
  | { type: 'reasoning'; index: number; text: string; summary?: boolean }
  /** Ends a reasoning part that may go back to its issuer. The part may have no readable text, and so no delta before. */
  | {
      type: 'reasoning_proof';
      index: number;
      signature?: string;
      encrypted?: string;
      redacted?: string;
      issuer: string;
    }
  | { type: 'refusal'; index: number; text: string }
  | { type: 'tool_call'; index: number; id: string; name: string }
  | { type: 'tool_arguments'; index: number; text: string }
  | { type: 'finish'; reason: FinishReason; stopSequence?: string; usage: ModelUsage };

/** A whole reply: what the deltas add up to. */
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

/** Worth another try, here or elsewhere. */
const RETRYABLE: ReadonlySet<ModelErrorCode> = new Set(['rate_limited', 'unavailable', 'timeout', 'upstream']);

/** What went wrong with a model call. The message is fit for a caller: no key, no address. */
export class ModelError extends CapstanError<ModelErrorCode> {
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;

  constructor(
    code: ModelErrorCode,
    message: string,
    options: { retryAfterMs?: number; status?: number; cause?: unknown } = {},
  ) {
    super(code, message, { cause: options.cause, retryable: RETRYABLE.has(code) });
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
  }
}

/** What is known of a model. Prices are US dollars per million tokens. */
export type ModelInfo = {
  name: string;
  contextWindow: number;
  vision: boolean;
  maxOutputTokens?: number;
  price?: { input: number; output: number; cacheRead?: number; cacheWrite?: number };
};

/** Model calls by name, with retries and fallback before the first delta. */
export type Inference = {
  /** Undefined when no provider or name fits. */
  findModel(model: string): ModelInfo | undefined;
  /** Ends with `finish` or throws a `ModelError`; ends at once when `signal` aborts (throws its reason). */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelDelta>;
  close(): Promise<void>;
};
