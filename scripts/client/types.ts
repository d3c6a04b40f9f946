import type { Schema } from '../../src/platform/http/docs/document.ts';

export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

/** Every named shape below a value. */
export function findRefs(value: unknown): Set<string> {
  const text = JSON.stringify(value) ?? '';
  return new Set([...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1] ?? ''));
}

const SIMPLE: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

function printUnion(types: string[]): string {
  return [...new Set(types)].join(' | ');
}

/** Recognizes `{ object: 'list', data, pagination }`, the output of the contract's `listOf`. */
function findListItem({ properties }: Schema): Schema | undefined {
  const names = Object.keys(properties ?? {}).join();
  const paging = Object.keys(properties?.['pagination']?.properties ?? {}).join();
  return names === 'object,data,pagination' && paging === 'limit,offset,hasMore,total'
    ? properties?.['data']?.items
    : undefined;
}

export function printComment(text: string | undefined, indent = ''): string {
  return text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '* /')} */\n`;
}

/** A field that may be missing may also be `undefined`: neither is sent. */
export function printField(required: boolean, type: string): string {
  return required ? `: ${type}` : `?: ${type} | undefined`;
}

function printObject(schema: Schema, indent: string): string {
  const required = new Set(schema.required);
  const inner = `${indent}  `;
  const fields = Object.entries(schema.properties ?? {}).map(([name, item]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return `${printComment(item.description, inner)}${inner}${key}${printField(required.has(name), printType(item, inner))};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
}

function printObjectType(schema: Schema, indent: string): string {
  const item = findListItem(schema);
  if (item !== undefined) return `List<${printType(item, indent)}>`;
  if (schema.properties !== undefined) return printObject(schema, indent);
  const value = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {};
  return `Record<string, ${printType(value, indent)}>`;
}

/** A schema as the type of the values it describes. */
export function printType(schema: Schema, indent = ''): string {
  if (schema.$ref !== undefined) return refName(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return printUnion(schema.enum.map((value) => JSON.stringify(value)));
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return printUnion(choices.map((choice) => printType(choice, indent)));
  if (Array.isArray(schema.type)) {
    return printUnion(schema.type.map((type) => printType({ ...schema, type }, indent)));
  }
  if (schema.type === 'array') {
    const item = printType(schema.items ?? {}, indent);
    return item.includes(' | ') ? `Array<${item}>` : `${item}[]`;
  }
  if (schema.type === 'object') return printObjectType(schema, indent);
  return SIMPLE[schema.type ?? ''] ?? 'unknown';
}
