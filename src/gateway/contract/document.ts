import { z } from 'zod';
import { ModelUsageList, USAGE_PARAMETERS } from './usage.ts';
import { ModelPrice } from '../../inference/config.ts';
import type { Scope } from '../../platform/contract/keys.ts';
import { RefusedRequest, listRefusals } from '../../platform/contract/refused.ts';
import { describeScopes } from '../../platform/contract/route.ts';
import { VERSION } from '../../platform/contract/version.ts';
import { ChatCompletion, ChatRequest, ResponseResource, ResponsesRequest } from './chat.ts';
import { BATCH_OPERATIONS } from './batches.ts';
import { ENDPOINT_OPERATIONS } from './endpoints.ts';
import { CountTokensRequest, Message, MessagesError, MessagesRequest, TokenCount } from './messages.ts';
import { NATIVE_OPERATIONS } from './native.ts';
import type { Json, Operation } from './operation.ts';
import { REQUEST_OPERATIONS } from './requests.ts';
import { ChatCompletionChunk, MessageStreamEvent, ResponseStreamEvent } from './stream-events.ts';

/** The provider's own words, if the provider caused the error. */
const UpstreamError = z.object({
  status: z.int().optional(),
  code: z.string().optional(),
  type: z.string().optional(),
  request_id: z.string().optional(),
});

export const InferenceError = z
  .object({
    error: z.object({
      message: z.string(),
      code: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      upstream: UpstreamError.optional(),
    }),
  })
  .meta({ id: 'InferenceError' });

export const Model = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    type: z.literal('model'),
    display_name: z.string(),
    created_at: z.string(),
    context_window: z.int(),
    max_output_tokens: z.int().nullable(),
    price: ModelPrice.nullable().describe('US dollars per million tokens'),
    reasoning: z
      .object({ efforts: z.array(z.string()) })
      .nullable()
      .describe('the efforts that the model accepts; null where that is unknown'),
    modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }),
  })
  .meta({ id: 'Model' });

export const ModelList = z
  .object({
    object: z.literal('list'),
    data: z.array(Model),
    has_more: z.literal(false),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  })
  .meta({ id: 'ModelList' });

const Root = z.object({
  name: z.string(),
  version: z.string(),
  docs: z.string(),
  console: z.string().optional().describe('where the web console is served'),
  openapi: z.string(),
});
const Health = z.object({ status: z.literal('ok') });

const version = (name: string): Json => ({
  name,
  in: 'header',
  required: false,
  description: 'version of the messages format; may be left out',
  schema: { type: 'string', enum: ['2023-06-01', '2026-10-21'] },
});
const VERSIONS = [version('provider-version'), version('anthropic-version')];
const MODEL = { name: 'model', in: 'path', required: true, schema: { type: 'string' } };
const query = (name: string, schema: Json): Json => ({ name, in: 'query', required: false, schema });

/** Scopes of model calls, and of lists. */
export const CALL_SCOPES: readonly Scope[] = ['inference'];
export const READ_SCOPES: readonly Scope[] = ['inference', 'services:read'];

/** Every operation of the inference gateway. */
export const INFERENCE_OPERATIONS: readonly Operation[] = [
  {
    id: 'createChatCompletion',
    method: 'post',
    path: '/v1/chat/completions',
    tag: 'Text',
    summary: 'Create a chat completion',
    body: ChatRequest,
    answer: ChatCompletion,
    event: ChatCompletionChunk,
  },
  {
    id: 'createResponse',
    method: 'post',
    path: '/v1/responses',
    tag: 'Text',
    summary: 'Create a response',
    body: ResponsesRequest,
    answer: ResponseResource,
    event: ResponseStreamEvent,
  },
  {
    id: 'createMessage',
    method: 'post',
    path: '/v1/messages',
    tag: 'Text',
    summary: 'Create a message',
    body: MessagesRequest,
    answer: Message,
    event: MessageStreamEvent,
    error: MessagesError,
    parameters: VERSIONS,
  },
  {
    id: 'countTokens',
    method: 'post',
    path: '/v1/messages/count_tokens',
    tag: 'Text',
    summary: 'Count the input tokens of a message',
    body: CountTokensRequest,
    answer: TokenCount,
    error: MessagesError,
    parameters: VERSIONS,
  },
  ...ENDPOINT_OPERATIONS,
  ...BATCH_OPERATIONS,
  { id: 'listModels', method: 'get', path: '/v1/models', tag: 'Models', summary: 'List the models', answer: ModelList },
  {
    id: 'getModel',
    method: 'get',
    path: '/v1/models/{model}',
    tag: 'Models',
    summary: 'Get one model',
    answer: Model,
    parameters: [MODEL],
  },
  {
    id: 'listModelsUnprefixed',
    method: 'get',
    path: '/models',
    tag: 'Models',
    summary: 'List the models',
    answer: ModelList,
  },
  {
    id: 'getModelUnprefixed',
    method: 'get',
    path: '/models/{model}',
    tag: 'Models',
    summary: 'Get one model',
    answer: Model,
    parameters: [MODEL],
  },
  ...REQUEST_OPERATIONS,
  ...NATIVE_OPERATIONS,
  {
    id: 'listModelUsage',
    method: 'get',
    path: '/v1/usage',
    tag: 'Usage',
    summary: 'Report what the organization has used',
    answer: ModelUsageList,
    parameters: [
      query('from', { type: 'string', format: 'date' }),
      query('to', { type: 'string', format: 'date' }),
      ...USAGE_PARAMETERS.map(([name, description]) => query(name, { type: 'string', description })),
    ],
  },
  {
    id: 'getRoot',
    method: 'get',
    path: '/',
    tag: 'Service',
    summary: 'Name, version and documents',
    answer: Root,
    open: true,
  },
  {
    id: 'getHealth',
    method: 'get',
    path: '/health',
    tag: 'Service',
    summary: 'Health check',
    answer: Health,
    open: true,
  },
];

const ERRORS: Record<number, string> = {
  400: '`invalid_request`, `unsupported_field`, `context_length_exceeded`, `content_policy_violation` or `upstream_authentication_failed`',
  401: '`invalid_api_key`',
  403: '`forbidden`',
  404: '`model_not_found`',
  413: '`request_too_large`',
  429: '`rate_limit_exceeded`; `insufficient_quota` where a budget is spent',
  502: '`upstream_error`',
  503: '`upstream_unavailable`',
  504: '`upstream_timeout`',
};

function describe(schema: z.ZodType, components: Map<string, Json>): Json {
  const { $schema: _dialect, $defs = {}, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  const text = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll('#/$defs/', '#/components/schemas/')) as Json;
  for (const [name, definition] of Object.entries($defs)) {
    const { id: _id, ...own } = text(definition);
    components.set(name, own);
  }
  const { id, ...own } = text(rest);
  if (typeof id !== 'string') return own;
  components.set(id, own);
  return { $ref: `#/components/schemas/${id}` };
}

function buildOperation(operation: Operation, components: Map<string, Json>): Json {
  const { id, method, tag, summary, body, answer, event, error = InferenceError, open, parameters } = operation;
  const content = (types: readonly string[], schema: z.ZodType) =>
    Object.fromEntries(types.map((type) => [type, { schema: describe(schema, components) }]));
  const json = (schema: z.ZodType) => content(['application/json'], schema);
  const sent = operation.form === true ? 'multipart/form-data' : 'application/json';
  const failures =
    open === true ? [] : Object.entries(ERRORS).filter(([status]) => body !== undefined || Number(status) < 429);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(open === true ? { security: [] } : {}),
    ...describeScopes(open === true ? [] : (operation.scopes ?? (method === 'get' ? READ_SCOPES : CALL_SCOPES))),
    ...(parameters === undefined ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: content([sent], body) } }),
    responses: {
      [operation.status ?? 200]: {
        description: summary,
        content: {
          ...content(operation.binary ?? ['application/json'], answer),
          ...(event === undefined ? {} : content(['text/event-stream'], event)),
        },
      },
      ...Object.fromEntries(failures.map(([status, description]) => [status, { description, content: json(error) }])),
      ...Object.fromEntries(listRefusals(describe(RefusedRequest, components))),
    },
  };
}

/** The OpenAPI 3.1 document of the inference gateway. */
export function buildInferenceDocument(): Json {
  const components = new Map<string, Json>();
  const paths: Record<string, Json> = {};
  for (const operation of INFERENCE_OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: buildOperation(operation, components) };
  }
  const names = [...components.keys()].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Capstan inference gateway',
      version: VERSION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      'x-api-version': '0.1.0',
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [...new Set(INFERENCE_OPERATIONS.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(names.map((name) => [name, components.get(name)])),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
    },
  };
}
