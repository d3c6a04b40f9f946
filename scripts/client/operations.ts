import { printField, printType } from './types.ts';
import type { Schema } from '../../src/platform/http/docs/document.ts';

export type Parameter = { name: string; in: string; required: boolean; schema: Schema };
type Content = Record<string, { schema: Schema; examples?: Record<string, unknown> }>;
export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { content: Content }>;
};

/** One function of the client. An operation with several media types becomes several functions. */
export type ClientFunction = {
  name: string;
  method: string;
  path: string;
  operation: Operation;
  body: 'json' | 'bytes' | 'form' | undefined;
  answer: 'json' | 'bytes';
};

const JSON_TYPE = 'application/json';
const BYTES_TYPE = 'application/octet-stream';

function listSuccesses(operation: Operation): Content[] {
  return Object.entries(operation.responses)
    .filter(([status]) => status < '300')
    .map(([, { content }]) => content);
}

/** The client's functions for an operation; none for a stream, which has its own code. */
export function listFunctions(method: string, path: string, operation: Operation): ClientFunction[] {
  const successes = listSuccesses(operation);
  if (successes.some((content) => 'text/event-stream' in content)) return [];
  const content = operation.requestBody?.content;
  const base = { name: operation.operationId, method: method.toUpperCase(), path, operation };
  if (!successes.some((answers) => JSON_TYPE in answers)) return [{ ...base, body: undefined, answer: 'bytes' }];
  const functions: ClientFunction[] = [
    { ...base, body: content === undefined ? undefined : 'json', answer: 'json' as const },
  ];
  if (content !== undefined && BYTES_TYPE in content) {
    functions.push({ ...base, name: `${base.name}Bytes`, body: 'bytes', answer: 'json' });
  }
  if (content !== undefined && 'multipart/form-data' in content) {
    functions.push({ ...base, name: `${base.name}Form`, body: 'form', answer: 'json' });
  }
  if (successes.some((answers) => BYTES_TYPE in answers)) {
    functions.push({ ...base, name: `${base.name}Bytes`, body: undefined, answer: 'bytes' });
  }
  return functions;
}

export function listPathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
}

export function listQuery({ parameters = [] }: Operation): Parameter[] {
  return parameters.filter((parameter) => parameter.in === 'query');
}

export function hasIdempotencyHeader({ parameters = [] }: Operation): boolean {
  return parameters.some(({ name, in: where }) => where === 'header' && name === 'Idempotency-Key');
}

function printBody({ operation, body }: ClientFunction): string[] {
  if (body === 'bytes') return ['body: Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>'];
  if (body === 'form') return ['body: FormData'];
  if (body === undefined) return [];
  const schema = operation.requestBody?.content[JSON_TYPE]?.schema ?? {};
  return [`body${operation.requestBody?.required === false ? '?' : ''}: ${printType(schema, '  ')}`];
}

function printAnswer({ operation, answer }: ClientFunction): string {
  if (answer === 'bytes') return 'Response';
  const types = listSuccesses(operation).flatMap((content) => {
    const schema = content[JSON_TYPE]?.schema;
    return schema === undefined ? [] : [printType(schema, '  ')];
  });
  return [...new Set(types)].join(' | ');
}

function listCodes({ responses }: Operation): string[] {
  const bodies = Object.entries(responses).filter(([status]) => status >= '400');
  return [...new Set(bodies.flatMap(([, { content }]) => Object.keys(content[JSON_TYPE]?.examples ?? {})))];
}

/** The declaration of a function with its comment. */
export function printFunction(made: ClientFunction): string {
  const { operation, method, path } = made;
  const query = listQuery(operation);
  const optional = query.every(({ required }) => !required);
  const fields = query.map(({ name, required, schema }) => `${name}${printField(required, printType(schema, '  '))}`);
  const parameters = [
    ...listPathNames(path).map((name) => `${name}: string`),
    ...printBody(made),
    ...(query.length === 0 ? [] : [`query${optional ? '?' : ''}: { ${fields.join('; ')} }`]),
    'options?: CallOptions',
  ];
  const scope = operation.description ?? '';
  return `  /**
   * ${operation.summary}. \`${method} ${path}\`
   *
   * ${scope} Errors: ${listCodes(operation).join(', ')}.
   */
  ${made.name}(${parameters.join(', ')}): Promise<${printAnswer(made)}>;
`;
}
