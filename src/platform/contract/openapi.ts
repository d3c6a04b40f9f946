// Tests: test/roles/documents.test.ts
import { z } from 'zod';
import { ErrorBody, ERROR_STATUS, publicCode } from './errors.ts';
import { listErrorExamples } from './examples/errors.ts';
import { PARAMETERS } from './examples/example.ts';
import type { Example } from './examples/example.ts';
import { RefusedRequest, listRefusals } from './refused.ts';
import { HEADERS, RATE_LIMIT_HEADERS, referHeaders } from './response-headers.ts';
import { describeScopes, listScopes } from './route.ts';
import type { Route } from './route.ts';
import { VERSION } from './version.ts';

type Json = Record<string, unknown>;
type Components = Map<string, Json>;

/** Examples by operation id. */
type Examples = Readonly<Record<string, Example>>;

/** The errors of one service, as its document shows them. */
export type ErrorCatalogue<Code extends string = string> = {
  /** the HTTP status of each code */
  status: Readonly<Record<Code, number>>;
  /** what any operation may answer, beside its own errors */
  common: readonly Code[];
  /** what stands in the body for a code */
  publicCode(code: Code): string;
  body: z.ZodType;
  /** a body for each of the codes that have this status, by its public code */
  listExamples(codes: Iterable<Code>, status: number): Record<string, { value: unknown }>;
};

/** The codes that any operation of any service may answer. */
export const COMMON_ERRORS = [
  'validation_error',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'server_error',
  'unavailable',
  'storage_full',
] as const;

/** The agent service's. */
export const AGENT_ERRORS = {
  status: ERROR_STATUS,
  common: COMMON_ERRORS,
  publicCode,
  body: ErrorBody,
  listExamples: listErrorExamples,
} satisfies ErrorCatalogue<keyof typeof ERROR_STATUS>;

const BYTES: Json = { type: 'string', format: 'binary' };

/** Every integer has these bounds in JavaScript; as constraints they say nothing. */
function isNoise([key, value]: [string, unknown]): boolean {
  return (
    (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) || (key === 'maximum' && value === Number.MAX_SAFE_INTEGER)
  );
}

/** References as the document has them, not as one schema alone would. */
function relocate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relocate);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter((entry) => !isNoise(entry));
  return Object.fromEntries(
    entries.map(([key, item]) => [
      key,
      key === '$ref' && typeof item === 'string' ? item.replace('#/$defs/', '#/components/schemas/') : relocate(item),
    ]),
  );
}

/** The JSON Schema of a shape; named shapes go to the components. `io` tells whether defaults count as given. */
function describe(schema: z.ZodType, components: Components, io: 'input' | 'output'): Json {
  const { $schema: _dialect, $defs = {}, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  for (const [name, component] of Object.entries($defs)) {
    const { id: _id, ...definition } = relocate(component) as Json;
    components.set(name, definition);
  }
  const { id, ...own } = relocate(rest) as Json;
  if (typeof id !== 'string') return own;
  components.set(id, own);
  return { $ref: `#/components/schemas/${id}` };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Names, for every union of named shapes, the field that tells them apart: generators of clients need it. */
function addDiscriminators(value: unknown, components: Components): unknown {
  if (Array.isArray(value)) return value.map((item) => addDiscriminators(item, components));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, addDiscriminators(item, components)]);
  const discriminator = findDiscriminator(value['oneOf'], components);
  return { ...Object.fromEntries(entries), ...(discriminator === undefined ? {} : { discriminator }) };
}

function findDiscriminator(members: unknown, components: Components): Json | undefined {
  if (!Array.isArray(members)) return undefined;
  const mapping: [string, string][] = [];
  for (const member of members) {
    const ref = isObject(member) ? member['$ref'] : undefined;
    if (typeof ref !== 'string') return undefined;
    const properties = components.get(ref.split('/').at(-1) ?? '')?.['properties'];
    const type = isObject(properties) && isObject(properties['type']) ? properties['type']['const'] : undefined;
    if (typeof type !== 'string') return undefined;
    mapping.push([type, ref]);
  }
  return { propertyName: 'type', mapping: Object.fromEntries(mapping) };
}

/** A parameter that may be left out has no default, whatever stands for an empty value of it. */
function dropUnusedDefault(schema: Json, item: z.ZodType): Json {
  const absent = item.safeParse(undefined);
  if (!absent.success || absent.data !== undefined) return schema;
  const { default: _default, ...rest } = schema;
  return rest;
}

function listParameters(
  where: 'path' | 'query',
  schema: z.ZodType | undefined,
  components: Components,
  examples: Readonly<Record<string, string>>,
): Json[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, item]) => ({
    name,
    in: where,
    required: where === 'path' || !item.safeParse(undefined).success,
    // Query values are parsed from text: what they come to says more than that they are text.
    schema: dropUnusedDefault(describe(item, components, where === 'query' ? 'output' : 'input'), item),
    ...(examples[name] === undefined ? {} : { example: item.parse(examples[name]) }),
  }));
}

function listSuccesses(route: Route, components: Components, example: Example | undefined): [string, Json][] {
  return Object.entries(route.responses).map(([status, schema]) => {
    const answer = example?.answers[Number(status)];
    const shown = answer === undefined ? {} : { example: answer };
    return [
      status,
      {
        description: route.summary,
        headers: referHeaders([
          'X-Request-Id',
          ...RATE_LIMIT_HEADERS,
          ...(route.body === undefined ? [] : ['X-Capstan-Ignored-Fields']),
        ]),
        content: {
          ...(schema === 'stream' ? { 'text/event-stream': { schema: { type: 'string' }, ...shown } } : {}),
          ...(schema instanceof z.ZodType
            ? { 'application/json': { schema: describe(schema, components, 'input'), ...shown } }
            : {}),
          ...(schema === 'binary' || route.binary === true ? { 'application/octet-stream': { schema: BYTES } } : {}),
        },
      },
    ];
  });
}

/** Every code that an operation may answer with. */
export function listErrorCodes<Code extends string>(
  route: Route<Code>,
  catalogue: Pick<ErrorCatalogue<Code>, 'common'>,
): Code[] {
  const codes = new Set([...catalogue.common, ...route.errors]);
  if (route.body !== undefined || route.media !== undefined) codes.add('payload_too_large' as Code);
  return [...codes];
}

function listErrors<Code extends string>(
  route: Route<Code>,
  components: Components,
  catalogue: ErrorCatalogue<Code>,
): [string, Json][] {
  const codes = listErrorCodes(route, catalogue);
  const statuses = [...new Set(codes.map((code) => catalogue.status[code]))].sort((a, b) => a - b);
  return statuses.map((status) => {
    const ofStatus = codes.filter((code) => catalogue.status[code] === status);
    const named = ofStatus.map((code) => `\`${catalogue.publicCode(code)}\``);
    const extra = status === 429 ? ['Retry-After', ...RATE_LIMIT_HEADERS] : status === 503 ? ['Retry-After'] : [];
    return [
      String(status),
      {
        description: [...new Set(named)].join(' or '),
        headers: referHeaders(['X-Request-Id', ...extra]),
        content: {
          'application/json': {
            schema: describe(catalogue.body, components, 'input'),
            examples: catalogue.listExamples(codes, status),
          },
        },
      },
    ];
  });
}

function describeRequest(route: Route, components: Components, example: Example | undefined): Json {
  const media = route.media ?? (route.body === undefined ? undefined : { 'application/json': route.body });
  if (media === undefined) return {};
  const content = Object.entries(media).map(([type, schema]) => [
    type,
    {
      schema: schema === 'binary' ? BYTES : describe(schema, components, 'input'),
      ...(type === 'application/json' && example?.body !== undefined ? { example: example.body } : {}),
    },
  ]);
  return { requestBody: { required: route.bodyOptional !== true, content: Object.fromEntries(content) as Json } };
}

function buildOperation<Code extends string>(
  route: Route<Code>,
  components: Components,
  examples: Examples,
  catalogue: ErrorCatalogue<Code>,
): Json {
  const example = examples[route.id];
  const parameters = [
    ...listParameters('path', route.params, components, PARAMETERS),
    ...listParameters('query', route.query, components, example?.query ?? {}),
    ...(route.headers ?? []).map(({ name, description }) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ];
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(route.open === true ? { security: [] } : {}),
    ...describeScopes(listScopes(route)),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...describeRequest(route, components, example),
    responses: Object.fromEntries([
      ...listSuccesses(route, components, example),
      ...listErrors(route, components, catalogue),
      ...listRefusals(describe(RefusedRequest, components, 'input'), referHeaders(['X-Request-Id'])),
    ]),
  };
}

/** The OpenAPI 3.1 document of a set of routes; the same routes give the same bytes. */
export function buildOpenApi<Code extends string>(api: {
  title: string;
  /** of this API; the document's own version is the release */
  apiVersion: string;
  routes: readonly Route<Code>[];
  examples: Examples;
  errors: ErrorCatalogue<Code>;
}): Json {
  const components: Components = new Map();
  const paths: Record<string, Json> = {};
  for (const route of api.routes) {
    const operation = buildOperation(route, components, api.examples, api.errors);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
  }
  const names = [...components.keys()].sort();
  for (const name of names) components.set(name, addDiscriminators(components.get(name), components) as Json);
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version: VERSION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      'x-api-version': api.apiVersion,
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: [...new Set(api.routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(names.map((name) => [name, components.get(name)])),
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
      ),
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  };
}
