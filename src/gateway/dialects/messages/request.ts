// Tests: test/gateway/messages.test.ts, test/gateway/traps.test.ts
import type {
  ModelMessage,
  ModelRequest,
  ModelTool,
  ReasoningEffort,
  ResponseFormat,
  ToolChoice,
} from '../../../inference/model.ts';
import { isRecord, omitUndefined } from '../../../platform/records.ts';
import { findRefused } from '../../fields/apply.ts';
import { invalid, unsupported } from '../../gateway-error.ts';
import { GatewayError } from '../../gateway-error.ts';
import { checkNames } from '../chat-completions/tools.ts';
import type { ClientCall, PassThrough, JsonObject } from '../dialect.ts';
import {
  isAbsent,
  nameType,
  readList,
  readName,
  readObject,
  readOptionalBoolean,
  readOptionalCount,
  readOptionalList,
  readOptionalNumber,
  readOptionalText,
  readText,
} from '../fields.ts';
import { addAssistant, addResults, pairCalls } from '../history.ts';
import { readModels } from '../models.ts';
import { SIGNATURE_PREFIX } from '../signature.ts';
import { readAssistantBlocks, readTextBlocks, readUserBlocks } from './blocks.ts';
import type { ReportProviderOnly } from './blocks.ts';
import { findClientTool } from './client-tools.ts';
import { buildMessageReply } from './reply.ts';
import { buildMessagesFrames } from './frames.ts';

/** On this error, SDKs of the format send the whole conversation without a thread. */
function buildThreadError(): GatewayError {
  return new GatewayError('unsupported_field', 'thread: the provider of this model does not support threads', {
    param: 'thread',
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  });
}

function readConversation(items: unknown[], report: ReportProviderOnly): ModelMessage[] {
  if (items.length === 0) throw invalid('messages', 'must not be empty');
  const messages: ModelMessage[] = [];
  for (const [index, item] of items.entries()) {
    const path = `messages.${index}`;
    const message = readObject(item, path);
    switch (message['role']) {
      case 'user': {
        const { results, parts } = readUserBlocks(message['content'], `${path}.content`, report);
        addResults(messages, results);
        if (parts.length > 0) messages.push({ role: 'user', content: parts });
        break;
      }
      case 'assistant':
        addAssistant(messages, readAssistantBlocks(message['content'], `${path}.content`, report));
        break;
      case 'system':
        messages.push({ role: 'system', content: readTextBlocks(message['content'], `${path}.content`) });
        break;
      default:
        throw invalid(`${path}.role`, 'must be user, assistant or system');
    }
  }
  return messages;
}

function readTool(item: unknown, path: string, report: ReportProviderOnly): ModelTool[] {
  const tool = readObject(item, path);
  const type = tool['type'];
  const known = findClientTool(type);
  if (known !== undefined) return [{ name: readName(tool['name'], `${path}.name`), ...known }];
  if (!isAbsent(type) && type !== 'custom') {
    const name = nameType(type);
    const reason = `the tool ${name} runs at its provider and is not supported; disable it in the client`;
    report(unsupported(`${path}.type`, reason));
    return [];
  }
  return [
    {
      name: readName(tool['name'], `${path}.name`),
      description: readOptionalText(tool['description'], `${path}.description`) ?? '',
      parameters: readObject(tool['input_schema'], `${path}.input_schema`),
      ...omitUndefined({ strict: readOptionalBoolean(tool['strict'], `${path}.strict`) }),
    },
  ];
}

function readToolChoice(
  value: unknown,
  declared: readonly unknown[],
): Pick<ModelRequest, 'toolChoice' | 'parallelToolCalls'> {
  if (isAbsent(value)) return {};
  const choice = readObject(value, 'tool_choice');
  const serial = choice['disable_parallel_tool_use'] === true ? { parallelToolCalls: false } : {};
  const choices: Record<string, ToolChoice> = { auto: 'auto', any: 'required', none: 'none' };
  const type = readName(choice['type'], 'tool_choice.type');
  if (type === 'tool') {
    const name = readName(choice['name'], 'tool_choice.name');
    if (!declared.some((tool) => isRecord(tool) && tool['name'] === name))
      throw invalid('tool_choice.name', `no tool is called ${name.slice(0, 80)}`);
    return { toolChoice: { name }, ...serial };
  }
  const toolChoice = Object.hasOwn(choices, type) ? choices[type] : undefined;
  if (toolChoice === undefined) throw invalid('tool_choice.type', 'must be auto, any, tool or none');
  return { toolChoice, ...serial };
}

const EFFORTS: Record<string, ReasoningEffort> = {
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
};

function readEffort(config: JsonObject): ReasoningEffort | undefined {
  const { effort } = config;
  return typeof effort === 'string' && Object.hasOwn(EFFORTS, effort) ? EFFORTS[effort] : undefined;
}

const THINKING: readonly unknown[] = ['enabled', 'adaptive', 'disabled'];

/** Undefined: the caller wants no thinking, and the response shows none. */
function readThinking(value: unknown, config: JsonObject, report: ReportProviderOnly): ModelRequest['reasoning'] {
  if (!isRecord(value)) return undefined;
  if (!THINKING.includes(value['type'])) report(invalid('thinking.type', `must be one of ${THINKING.join(', ')}`));
  if (value['type'] === 'adaptive') return { effort: readEffort(config) ?? 'high' };
  if (value['type'] !== 'enabled') return undefined;
  const budgetTokens = readOptionalCount(value['budget_tokens'], 'thinking.budget_tokens');
  if (budgetTokens === undefined) throw invalid('thinking.budget_tokens', 'is required');
  const effort = readEffort(config);
  return { budgetTokens, ...omitUndefined({ effort }) };
}

function readFormat(value: unknown): ResponseFormat | undefined {
  if (!isRecord(value) || value['type'] !== 'json_schema') return undefined;
  return {
    type: 'json_schema',
    name: 'output',
    schema: readObject(value['schema'], 'output_config.format.schema'),
    strict: true,
  };
}

/** `1h` if any cache breakpoint of the system prompt asks for it. */
function readCacheTtl(body: JsonObject): '1h' | undefined {
  const blocks = Array.isArray(body['system']) ? (body['system'] as unknown[]) : [];
  const asks = blocks.some(
    (each) => isRecord(each) && isRecord(each['cache_control']) && each['cache_control']['ttl'] === '1h',
  );
  return asks ? '1h' : undefined;
}

export type MessagesRequest = {
  request: ModelRequest;
  /** the error for upstreams of other formats; undefined: the whole request can be translated */
  providerOnly: GatewayError | undefined;
};

/** Also used to count tokens. */
export function readMessagesRequest(body: JsonObject): MessagesRequest {
  let providerOnly: GatewayError | undefined;
  const report: ReportProviderOnly = (fault) => {
    providerOnly ??= fault;
  };
  if (!isAbsent(body['thread'])) report(buildThreadError());
  const refused = findRefused('messages', body);
  if (refused !== undefined) report(refused.error);
  const request = readRequest(body, report);
  return { request, providerOnly };
}

function readUserId(metadata: unknown): string | undefined {
  const id = isRecord(metadata) ? metadata['user_id'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function readRequest(body: JsonObject, report: ReportProviderOnly): ModelRequest {
  const named = readModels(body);
  const system = readTextBlocks(body['system'], 'system');
  const declared = readOptionalList(body['tools'], 'tools');
  const tools = declared.flatMap((item, index) => readTool(item, `tools.${index}`, report));
  checkNames(tools, (index) => `tools.${index}.name`);
  const config = isRecord(body['output_config']) ? body['output_config'] : {};
  const stop = readOptionalList(body['stop_sequences'], 'stop_sequences');
  const topK = readOptionalCount(body['top_k'], 'top_k');
  const messages = readConversation(readList(body['messages'], 'messages'), report);
  return {
    ...named,
    system: system.map(({ text }) => text).join('\n\n'),
    // The provider of a thread has its earlier messages, so results may come without their calls.
    messages: isAbsent(body['thread']) ? pairCalls(messages, 'messages') : messages,
    tools,
    ...readToolChoice(body['tool_choice'], declared),
    hints: omitUndefined({ user: readUserId(body['metadata']) }),
    ...omitUndefined({
      maxOutputTokens: readOptionalCount(body['max_tokens'], 'max_tokens'),
      temperature: readOptionalNumber(body['temperature'], 'temperature', 0, 1),
      topP: readOptionalNumber(body['top_p'], 'top_p', 0, 1),
      sampling: topK === undefined ? undefined : { topK },
      stop: stop.length === 0 ? undefined : stop.map((each, index) => readText(each, `stop_sequences.${index}`)),
      responseFormat: readFormat(config['format'] ?? body['output_format']),
      reasoning: readThinking(body['thinking'], config, report),
      cacheTtl: readCacheTtl(body),
    }),
  };
}

function isPackedSignature(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(SIGNATURE_PREFIX);
}

/** Packed signatures occur only in thinking blocks. */
function hasPackedSignature({ messages }: JsonObject): boolean {
  return (messages as JsonObject[]).some(
    ({ content }) =>
      Array.isArray(content) &&
      content.some(
        (block) => isRecord(block) && (isPackedSignature(block['signature']) || isPackedSignature(block['data'])),
      ),
  );
}

const PASS_THROUGH: PassThrough = {
  buildBody: (body) => body,
  open: (meta) => ({ take: ({ data }) => data, fail: (fault) => buildMessagesFrames(meta).fail(fault) }),
};

export function readMessagesCall(body: JsonObject): ClientCall {
  const { request, providerOnly } = readMessagesRequest(body);
  if (request.maxOutputTokens === undefined) throw invalid('max_tokens', 'is required');
  return {
    request,
    stream: readOptionalBoolean(body['stream'], 'stream') ?? false,
    // Clients that did not ask for reasoning take the first block for the answer.
    reasoning: request.reasoning !== undefined,
    // A signature that the gateway packed must be unpacked or dropped first.
    ...(hasPackedSignature(body) && providerOnly === undefined
      ? {}
      : { passThrough: { ...PASS_THROUGH, refusal: providerOnly } }),
    buildFinal: buildMessageReply,
    buildFrames: buildMessagesFrames,
  };
}
