import { Ajv } from 'ajv';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { isRecord } from '../../platform/records.ts';

type Schema = Record<string, unknown>;
export type ReadArguments = { input: Record<string, unknown> } | { error: string };

const ajv = new Ajv({ strict: false, allErrors: false, logger: false });
/**
 * For schemas of callers. Keywords whose check may take more than linear time are left to the caller: a pattern, and
 * the comparison of all items.
 */
const foreignAjv = new Ajv({ strict: false, allErrors: false, logger: false, validateFormats: false });
for (const keyword of ['pattern', 'uniqueItems']) foreignAjv.removeKeyword(keyword);
const compiled = new WeakMap<Schema, ValidateFunction | null>();

/** As `readArguments`, for the schema of a caller. One that cannot be checked here accepts any object. */
export function readCallerArguments(schema: Schema, jsonText: string): ReadArguments {
  const hasPatterns = JSON.stringify(schema).includes('"patternProperties"');
  const known = compiled.get(schema);
  if (known === undefined)
    compiled.set(schema, hasPatterns ? null : compile({ type: 'object', ...schema }, foreignAjv));
  return readArguments(schema, jsonText);
}

/**
 * A model's arguments, mended where the meaning is clear (numbers and booleans as text, lists and objects as JSON
 * text) and checked against the tool's schema. The error names the argument and never repeats its value.
 */
export function readArguments(parameters: Schema, jsonText: string): ReadArguments {
  let value: unknown;
  try {
    value = JSON.parse(jsonText.trim() === '' ? '{}' : jsonText);
    // some models wrap the object in a text once more
    if (typeof value === 'string') value = JSON.parse(value);
  } catch {
    return { error: 'The arguments are not valid JSON. Send one JSON object.' };
  }
  if (!isRecord(value)) return { error: 'The arguments must be one JSON object.' };
  const input = coerceObject(parameters, value);
  const validate = compile(parameters);
  if (validate === null || validate(input)) return { input };
  return { error: describeError(validate.errors?.[0]) };
}

/** Null for a caller's schema that cannot be compiled: its tool is called with what the model gave. */
function compile(schema: Schema, compiler = ajv): ValidateFunction | null {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  let validate: ValidateFunction | null = null;
  try {
    // a draft's own name is of no use here, and an unknown one would be refused
    const { $schema: _draft, $id: _id, ...rest } = schema;
    validate = compiler.compile(rest);
    // It would never be released, unlike the cache here.
    compiler.removeSchema(rest);
  } catch {
    validate = null;
  }
  compiled.set(schema, validate);
  return validate;
}

function coerceObject(schema: Schema, value: Record<string, unknown>): Record<string, unknown> {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const result: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const wanted = isRecord(property) ? property : {};
    // null for an argument that may be left out means that it was
    if (item === null && !required.includes(name) && !typesOf(wanted).includes('null') && property !== undefined)
      continue;
    result[name] = coerceValue(wanted, item);
  }
  return result;
}

function typesOf(schema: Schema): unknown[] {
  return Array.isArray(schema['type']) ? schema['type'] : [schema['type']];
}

function coerceValue(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value) && isRecord(schema['items']))
    return value.map((item) => coerceValue(schema['items'] as Schema, item));
  if (isRecord(value) && isRecord(schema['properties'])) return coerceObject(schema, value);
  const types = typesOf(schema);
  if (types.includes('string')) {
    return (typeof value === 'number' || typeof value === 'boolean') && types.length === 1 ? String(value) : value;
  }
  return typeof value === 'string' ? coerceText(schema, types, value) : value;
}

/** A text where the schema allows none, as the number, boolean, list or object that it stands for. */
function coerceText(schema: Schema, types: readonly unknown[], value: string): unknown {
  const text = value.trim();
  if ((types.includes('integer') || types.includes('number')) && /^[+-]?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (types.includes('boolean') && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if ((types.includes('array') && text.startsWith('[')) || (types.includes('object') && text.startsWith('{'))) {
    try {
      return coerceValue(schema, JSON.parse(text));
    } catch {
      return value;
    }
  }
  // one text where a list of texts is wanted
  if (types.includes('array') && text !== '') return [value];
  return value;
}

function describeError(error: ErrorObject | undefined): string {
  if (error === undefined) return 'The arguments do not fit the tool.';
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  if (error.keyword === 'required') {
    const missing = (error.params as { missingProperty: string }).missingProperty;
    return `${path === '' ? missing : `${path}.${missing}`}: is required`;
  }
  if (error.keyword === 'enum') {
    const allowed = (error.params as { allowedValues: unknown[] }).allowedValues;
    return `${path || 'arguments'}: must be one of ${JSON.stringify(allowed).slice(0, 300)}`;
  }
  if (error.keyword === 'additionalProperties') {
    const extra = (error.params as { additionalProperty: string }).additionalProperty;
    return `${path === '' ? extra : `${path}.${extra}`}: is not an argument of this tool`;
  }
  return `${path || 'arguments'}: ${error.message ?? 'does not fit'}`;
}
