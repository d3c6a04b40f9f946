// Tests: test/platform/contract/ignored-fields.test.ts
import { z } from 'zod';

/** Field names in `a[0].b` notation, at most so many. */
const MAX_FIELDS = 20;
const MAX_NAME = 100;

type Found = string[];

/**
 * The fields of a valid value that its schema does not know and drops, as paths, at most 20. Objects that keep unknown
 * fields and records have none. Names other than letters, digits, `_`, `-` and `$` are percent-encoded.
 */
export function listIgnoredFields(schema: z.ZodType, value: unknown): string[] {
  const found: Found = [];
  collect(schema, value, '', found);
  return found;
}

/** Every field of the value: for a request that takes none. */
export function listAllFields(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).slice(0, MAX_FIELDS).map(encodeName);
}

function encodeName(name: string): string {
  if (/^[\w$-]{1,100}$/.test(name)) return name;
  // Half a surrogate pair cannot be encoded.
  return encodeURIComponent(name.slice(0, MAX_NAME).toWellFormed());
}

function collect(schema: z.ZodType, value: unknown, path: string, found: Found): void {
  if (found.length >= MAX_FIELDS || typeof value !== 'object' || value === null) return;
  const inner = unwrap(schema);
  if (inner !== undefined) return collect(inner, value, path, found);
  if (schema instanceof z.ZodObject) return collectObject(schema, value, path, found);
  if (schema instanceof z.ZodArray) {
    if (!Array.isArray(value)) return;
    for (const [index, item] of value.entries()) collect(schema.element as z.ZodType, item, `${path}[${index}]`, found);
    return;
  }
  if (schema instanceof z.ZodRecord) {
    for (const [name, item] of Object.entries(value)) {
      collect(schema.valueType as z.ZodType, item, joinPath(path, name), found);
    }
    return;
  }
  if (schema instanceof z.ZodUnion) {
    const option = findOption(schema, value);
    if (option !== undefined) collect(option, value, path, found);
  }
}

/** The schema of the value itself, for one that only adds a default, a check or a conversion. */
function unwrap(schema: z.ZodType): z.ZodType | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  ) {
    return schema.unwrap() as z.ZodType;
  }
  if (schema instanceof z.ZodLazy) return schema.unwrap() as z.ZodType;
  if (!(schema instanceof z.ZodPipe)) return undefined;
  return (schema.in instanceof z.ZodTransform ? schema.out : schema.in) as z.ZodType;
}

function joinPath(path: string, name: string): string {
  return path === '' ? encodeName(name) : `${path}.${encodeName(name)}`;
}

function collectObject(schema: z.ZodObject, value: object, path: string, found: Found): void {
  const shape = schema.shape as Record<string, z.ZodType>;
  const isOpen = schema.def.catchall !== undefined;
  for (const [name, item] of Object.entries(value)) {
    if (found.length >= MAX_FIELDS) return;
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (known !== undefined) collect(known, item, joinPath(path, name), found);
    else if (!isOpen) found.push(joinPath(path, name));
  }
}

/** The member of a union that the value is read by. */
function findOption(schema: z.ZodUnion, value: object): z.ZodType | undefined {
  return (schema.options as z.ZodType[]).find((option) => option.safeParse(value).success);
}
