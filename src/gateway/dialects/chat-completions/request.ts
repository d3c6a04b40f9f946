import type { ModelRequest, ReasoningEffort, ResponseFormat } from '../../../inference/model.ts';
import { invalid, unsupported } from '../../faults.ts';
import type { ClientCall, PassThrough, Wire } from '../dialect.ts';
import {
  isAbsent,
  isObject,
  present,
  readList,
  readName,
  readObject,
  readOptionalBoolean,
  readOptionalChoice,
  readOptionalCount,
  readOptionalNumber,
  readOptionalText,
  readText,
} from '../fields.ts';
import { CACHE_TTL } from '../cache.ts';
import { readConversation } from './messages.ts';
import { buildCompletion } from './reply.ts';
import { openChatFrames } from './stream.ts';
import { readTools } from './tools.ts';

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;

export function readStop(value: unknown, path: string): string[] | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string') return [value];
  return readList(value, path).map((each, index) => readText(each, `${path}[${index}]`));
}

function readEffort(body: Wire): ReasoningEffort | undefined {
  const reasoning = isAbsent(body['reasoning']) ? {} : readObject(body['reasoning'], 'reasoning');
  return (
    readOptionalChoice(reasoning['effort'], 'reasoning.effort', ['low', 'medium', 'high']) ??
    // The name that SDKs of this format know, with the levels that they know.
    readOptionalChoice(body['reasoning_effort'], 'reasoning_effort', EFFORTS)
  );
}

/** A JSON Schema output as both OpenAI formats say it, here nested one level deeper. */
export function readSchemaFormat(value: Wire, path: string): ResponseFormat {
  return {
    type: 'json_schema',
    name: readName(value['name'], `${path}.name`),
    schema: isAbsent(value['schema']) ? {} : readObject(value['schema'], `${path}.schema`),
    ...present({
      strict: readOptionalBoolean(value['strict'], `${path}.strict`),
      description: readOptionalText(value['description'], `${path}.description`),
    }),
  };
}

function readFormat(value: unknown): ResponseFormat | undefined {
  if (isAbsent(value)) return undefined;
  const format = readObject(value, 'response_format');
  const type = readOptionalChoice(format['type'], 'response_format.type', ['text', 'json_object', 'json_schema']);
  if (type === undefined) throw invalid('response_format.type', 'is required');
  if (type !== 'json_schema') return { type };
  return readSchemaFormat(
    readObject(format['json_schema'], 'response_format.json_schema'),
    'response_format.json_schema',
  );
}

function refuseUnsupported(body: Wire): void {
  const modalities = body['modalities'];
  if (Array.isArray(modalities) && modalities.some((each) => each !== 'text')) {
    throw unsupported('modalities', 'only text is produced');
  }
  for (const name of ['audio', 'functions', 'function_call', 'web_search_options']) {
    if (!isAbsent(body[name])) throw unsupported(name, 'is not supported');
  }
}

/** What only an upstream of this very format can answer. */
function findNeed(body: Wire): string | undefined {
  return typeof body['n'] === 'number' && body['n'] > 1 ? 'n' : undefined;
}

/** Fields that upstreams of this format do not know, wherever in the conversation they stand. */
const OWN_FIELDS = ['"reasoning_details"', '"tool_result"'];

function decidePassThrough(body: Wire, usage: boolean): PassThrough | undefined {
  const needed = findNeed(body);
  const messages = JSON.stringify(body['messages']);
  if (needed === undefined && OWN_FIELDS.some((name) => messages.includes(name))) return undefined;
  // The count is asked for always; the chunk that holds nothing else goes to those who asked for it, too.
  return { needed, keeps: ({ data }) => usage || !/"choices":\s*\[\s*\]/.test(data) || !data.includes('"usage"') };
}

function readRequest(body: Wire): ModelRequest {
  const model = readName(body['model'], 'model');
  refuseUnsupported(body);
  readOptionalCount(body['n'], 'n');
  const messages = readConversation(readList(body['messages'], 'messages'));
  const { tools, toolChoice } = readTools(body);
  return {
    model,
    system: '',
    messages,
    tools,
    ...present({
      toolChoice,
      parallelToolCalls: readOptionalBoolean(body['parallel_tool_calls'], 'parallel_tool_calls'),
      maxOutputTokens:
        readOptionalCount(body['max_completion_tokens'], 'max_completion_tokens') ??
        readOptionalCount(body['max_tokens'], 'max_tokens'),
      temperature: readOptionalNumber(body['temperature'], 'temperature', 0, 2),
      topP: readOptionalNumber(body['top_p'], 'top_p', 0, 1),
      stop: readStop(body['stop'], 'stop'),
      responseFormat: readFormat(body['response_format']),
      cacheKey: readOptionalText(body['prompt_cache_key'], 'prompt_cache_key'),
      cacheTtl: readOptionalChoice(body['cache_ttl'], 'cache_ttl', CACHE_TTL),
    }),
    ...withEffort(readEffort(body)),
  };
}

function withEffort(effort: ReasoningEffort | undefined): { reasoning?: { effort: ReasoningEffort } } {
  return effort === undefined ? {} : { reasoning: { effort } };
}

export function readChatCall(body: Wire): ClientCall {
  const request = readRequest(body);
  const options = body['stream_options'];
  const usage = isObject(options) && options['include_usage'] === true;
  const passThrough = decidePassThrough(body, usage);
  return {
    request,
    stream: readOptionalBoolean(body['stream'], 'stream') ?? false,
    reasoning: request.reasoning?.effort !== 'none',
    ...(passThrough === undefined ? {} : { passThrough }),
    buildFinal: buildCompletion,
    openFrames: (moment) => openChatFrames(moment, { usage }),
  };
}
