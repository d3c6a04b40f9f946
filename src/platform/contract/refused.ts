// Tests: test/roles/documents.test.ts
import { z } from 'zod';

/** The answer to a request that is refused before its path is looked at, of every service alike. */
export const RefusedRequest = z
  .object({ error: z.literal('validation_error'), message: z.string() })
  .meta({ id: 'RefusedRequest' });

export const TOO_LARGE = 'The address and the headers must be at most 16 KiB together.';

/** By status, what any operation may answer so. */
const REFUSALS: Readonly<Record<string, { description: string; example: z.infer<typeof RefusedRequest> }>> = {
  431: {
    description: '`validation_error`: the address and the headers are larger than 16 KiB',
    example: { error: 'validation_error', message: TOO_LARGE },
  },
};

/** The answers as an operation of an OpenAPI document names them, with the schema of their body and their headers. */
export function listRefusals(schema: object, headers?: object): [string, Record<string, unknown>][] {
  return Object.entries(REFUSALS).map(([status, { description, example }]) => {
    const content = { 'application/json': { schema, examples: { [example.error]: { value: example } } } };
    return [status, { description, ...(headers === undefined ? {} : { headers }), content }];
  });
}
