import { Ajv2020 } from 'ajv/dist/2020.js';
import { ERROR_STATUS, publicCode } from '../../src/platform/contract/errors.ts';
import type { ErrorCode } from '../../src/platform/contract/errors.ts';
import { AGENT_SERVICE_ROUTES, buildAgentsDocument } from '../../src/agents/contract/document.ts';
import { AGENT_ERRORS, listErrorCodes } from '../../src/platform/contract/openapi.ts';
import type { Route } from '../../src/platform/contract/route.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(buildAgentsDocument(), 'agents');
const compiled = new Map<string, ReturnType<typeof ajv.compile>>();

/** Describes how a value violates a schema of the OpenAPI document. `where` is the path to the value. */
export function findMismatch(where: readonly string[], value: unknown): string | undefined {
  const pointer = where.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
  const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `agents#/${pointer}` });
  compiled.set(pointer, validate);
  return validate(value) ? undefined : `${pointer}: ${ajv.errorsText(validate.errors)}`;
}

/** Steps to the schema of a JSON answer. */
export function schemaOf(route: Route, status: number): string[] {
  const answer = ['responses', String(status), 'content', 'application/json', 'schema'];
  return ['paths', route.path, route.method.toLowerCase(), ...answer];
}

/** A client takes a segment of dots for a step in the tree: such a path leads to another operation, or to none. */
const SEGMENT = String.raw`(?!(?:\.|%2[eE]){1,2}(?:/|$))[^/]+`;

const PATTERNS = AGENT_SERVICE_ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, () => SEGMENT)}$`),
}));

/** The operation that a request means; a path without parameters goes before one with. */
export function findRoute(method: string, url: string): Route<ErrorCode> | undefined {
  const path = url.split('?')[0] ?? '';
  const found = PATTERNS.filter(({ route, pattern }) => route.method === method && pattern.test(path));
  return (found.find(({ route }) => route.path === path) ?? found[0])?.route;
}

/** Throws if the document does not allow this response of an operation. */
export function checkDocumented(method: string, url: string, status: number, body: unknown): void {
  const route = findRoute(method, url);
  if (route === undefined || body === undefined) return;
  if (status < 400) {
    if (!(status in route.responses)) throw new Error(`${route.id} answered ${status}, which is not documented`);
    if (route.responses[status] === 'binary') return;
    const mismatch = findMismatch(schemaOf(route, status), body);
    if (mismatch !== undefined) throw new Error(`${route.id} answered what is not documented: ${mismatch}`);
    return;
  }
  const { error } = body as { error?: string };
  const known = listErrorCodes(route, AGENT_ERRORS).some(
    (code) => publicCode(code) === error && ERROR_STATUS[code] === status,
  );
  if (!known) throw new Error(`${route.id} answered ${status} ${error}, which is not documented`);
}
