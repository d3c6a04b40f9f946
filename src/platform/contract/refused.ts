// Tests: test/roles/documents.test.ts
import { z } from 'zod';

/** The answer to a request that is refused before its path is looked at, of every service alike. */
export const RefusedRequest = z
  .object({ error: z.literal('validation_error'), message: z.string() })
  .meta({ id: 'RefusedRequest' });

export const TOO_LARGE = 'The address and the headers must be at most 16 KiB together.';

/** By status, what any operation may answer so. */
export const REFUSALS: Readonly<Record<string, { description: string; example: z.infer<typeof RefusedRequest> }>> = {
  431: {
    description: '`validation_error`: the address and the headers are larger than 16 KiB',
    example: { error: 'validation_error', message: TOO_LARGE },
  },
};
