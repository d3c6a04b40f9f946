import { hasIdempotencyHeader, listFunctions, listPathNames, listQuery, printFunction } from './operations.ts';
import type { ClientFunction, Operation } from './operations.ts';
import { buildRolesFile } from './roles.ts';
import { findRefs, printComment, printType, refName } from './types.ts';
import type { Schema } from '../../src/platform/http/docs/document.ts';

type Document = {
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

const HEAD = '// Generated from the contract by "npm run generate". Changes are lost.\n';
const COMMON = 'common';

function fileOf(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z]+/g, '-');
}

/** The named shapes of a value, including nested ones. */
function collectRefs(
  value: unknown,
  schemas: Document['components']['schemas'],
  found = new Set<string>(),
): Set<string> {
  for (const name of findRefs(value)) {
    if (found.has(name)) continue;
    found.add(name);
    collectRefs(schemas[name], schemas, found);
  }
  return found;
}

/** The file of each named shape: that of its tag, if only one tag uses it. */
function placeShapes({ tags, paths, components }: Document): Map<string, string> {
  const places = new Map<string, string>();
  for (const { name } of tags) {
    const operations = Object.values(paths).flatMap((item) => Object.values(item));
    const own = operations.filter((operation) => operation.tags.includes(name));
    for (const shape of collectRefs(own, components.schemas)) {
      places.set(shape, places.has(shape) ? COMMON : fileOf(name));
    }
  }
  return places;
}

function printImports(file: string, body: string, names: Set<string>, places: Map<string, string>): string {
  const byFile = new Map<string, string[]>();
  for (const name of [...names].sort()) {
    const from = places.get(name) ?? COMMON;
    if (from !== file) byFile.set(from, [...(byFile.get(from) ?? []), name]);
  }
  const own = ['CallOptions', 'List'].filter((name) => new RegExp(String.raw`\b${name}\b`).test(body));
  return [
    ...(own.length === 0 ? [] : [`import type { ${own.join(', ')} } from '../options.ts';\n`]),
    ...[...byFile]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([from, shapes]) => `import type { ${shapes.join(', ')} } from './${from}.ts';\n`),
  ].join('');
}

function printShape(name: string, schema: Schema): string {
  return `${printComment(schema.description)}export type ${name} = ${printType(schema)};\n`;
}

/**
 * Whether a request may be repeated: it only reads, or an idempotency key makes the repetition return the first
 * answer.
 */
function isSafe({ method, operation }: ClientFunction, schemas: Document['components']['schemas']): boolean {
  const { $ref = '' } = operation.requestBody?.content['application/json']?.schema ?? {};
  const hasKey = schemas[refName($ref)]?.required?.includes('idempotencyKey') === true;
  return method === 'GET' || hasIdempotencyHeader(operation) || hasKey;
}

function printEntry(made: ClientFunction, schemas: Document['components']['schemas']): string {
  const { name, method, path, operation, body, answer } = made;
  const entry = {
    method,
    path,
    parameters: listPathNames(path),
    query: listQuery(operation).length > 0,
    body,
    answer,
    safe: isSafe(made, schemas),
    idempotencyKey: hasIdempotencyHeader(operation),
  };
  return `  ${name}: ${JSON.stringify(entry)},\n`;
}

/** The files below `clients/typescript/generated`, by name. */
export function buildClientFiles(source: Record<string, unknown>): Record<string, string> {
  const document = source as unknown as Document;
  const { schemas } = document.components;
  const places = placeShapes(document);
  const functions = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => listFunctions(method, path, operation)),
  );
  const files: Record<string, string> = {};
  const writeFile = (file: string, shapes: string[], rest: string, needed: unknown) => {
    const body = [...shapes.map((name) => printShape(name, schemas[name] ?? {})), rest].filter((text) => text !== '');
    const names = findRefs([needed, shapes.map((name) => schemas[name])]);
    const imports = printImports(file, body.join('\n'), names, places);
    files[`${file}.ts`] = [HEAD + imports, ...body].join('\n');
  };
  const shapesOf = (file: string) => [...places].flatMap(([name, place]) => (place === file ? [name] : [])).sort();
  writeFile(COMMON, shapesOf(COMMON), '', []);
  const types = document.tags.map(({ name }) => {
    const file = fileOf(name);
    const own = functions.filter(({ operation }) => operation.tags.includes(name));
    const type = `${name.replaceAll(/[^A-Za-z]/g, '')}Operations`;
    const rest = `export type ${type} = {\n${own.map(printFunction).join('\n')}};\n`;
    const needed = own.map(({ operation }) => [
      listQuery(operation),
      operation.requestBody?.content['application/json'],
      Object.entries(operation.responses).filter(([status]) => status < '300'),
    ]);
    writeFile(file, shapesOf(file), rest, needed);
    return { file, type };
  });
  files['operations.ts'] = [
    HEAD + types.map(({ file, type }) => `import type { ${type} } from './${file}.ts';\n`).join(''),
    '/** Every operation of the service as a function. */',
    `export type Operations = ${types.map(({ type }) => type).join(' &\n  ')};\n`,
  ].join('\n');
  files['table.ts'] = `${HEAD}import type { OperationEntry } from '../options.ts';

/** What each function sends. */
export const TABLE: Readonly<Record<string, OperationEntry>> = {
${functions.map((made) => printEntry(made, schemas)).join('')}};
`;
  files['roles.ts'] = buildRolesFile(HEAD);
  const exported = [COMMON, ...types.map(({ file }) => file)];
  files['shapes.ts'] = HEAD + exported.map((file) => `export type * from './${file}.ts';\n`).join('');
  return files;
}
