import { z } from 'zod';
import { listIgnoredFields } from '../platform/contract/ignored-fields.ts';
import { describeIssues } from '../platform/contract/validation.ts';
import { CliError } from './cli-error.ts';

/** Refuses fields that the server would ignore: in a file they are mistakes. */
export function checkNames(schema: z.ZodType, fields: unknown, subject = 'The definition'): void {
  const unknown = listIgnoredFields(schema, fields);
  if (unknown.length === 0) return;
  const named = unknown.map((path) => {
    const close = findSimilar(schema, path);
    return close === undefined ? path : `${path} (did you mean ${close}?)`;
  });
  throw new CliError(`${subject} has unknown fields: ${named.join(', ')}`, 2);
}

/** The body as the API takes it. The server would say it too; this says it before anything is sent. */
export function checkBody<T>(schema: z.ZodType<T>, fields: Record<string, unknown>): T {
  const parsed = schema.safeParse(fields);
  if (!parsed.success) {
    throw new CliError(`The definition is not valid: ${describeIssues(parsed.error, 'body', fields)}`, 2);
  }
  checkNames(schema, fields);
  return parsed.data;
}

/** A field of the outer object that begins with an unknown one, as `modelName` with `model`. */
function findSimilar(schema: z.ZodType, path: string): string | undefined {
  if (!(schema instanceof z.ZodObject)) return undefined;
  return Object.keys(schema.shape).find((name) => name.toLowerCase().startsWith(path.toLowerCase()));
}
