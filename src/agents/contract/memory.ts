import { z } from 'zod';
import { Timestamp } from '../../platform/contract/common.ts';

/** `agent`: the agent's shared notes; `user` and `memory`: what is kept about one subject. */
export const MemoryTarget = z.enum(['agent', 'user', 'memory']);
export type MemoryTarget = z.infer<typeof MemoryTarget>;

/** What stands between two entries of a document. */
export const ENTRY_SEPARATOR = '\n§\n';

/** Characters (code points) of a whole document. */
export const MEMORY_LIMITS: Record<MemoryTarget, number> = { agent: 2200, memory: 2200, user: 1375 };

export function countCharacters(text: string): number {
  // A pair of surrogates is one character.
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

export function splitEntries(content: string): string[] {
  return content
    .split(ENTRY_SEPARATOR)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

export function joinEntries(entries: readonly string[]): string {
  return entries.join(ENTRY_SEPARATOR);
}

export const Memory = z
  .object({
    object: z.literal('memory'),
    target: MemoryTarget,
    content: z.string(),
    entries: z.array(z.string()),
    usedChars: z.int(),
    maxChars: z.int(),
    checksumSha256: z.string().describe('of the content, in hexadecimal'),
    updatedAt: Timestamp.nullable().describe('null as long as nothing was written'),
  })
  .meta({ id: 'Memory' });
export type Memory = z.infer<typeof Memory>;

/** More UTF-16 units than any document can have at its limit of code points. */
const MAX_UNITS = 10_000;

export const MemoryPut = z
  .object({
    content: z.string().max(MAX_UNITS).optional(),
    entries: z.array(z.string().min(1).max(MAX_UNITS)).max(1000).optional(),
    expectedChecksumSha256: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal digits')
      .optional()
      .describe('refuses the write when the content is another by now'),
  })
  .refine(
    (body) => (body.content === undefined) !== (body.entries === undefined),
    'must hold either content or entries',
  )
  .meta({ id: 'MemoryPut' });
export type MemoryPut = z.infer<typeof MemoryPut>;

export const MemoryQuery = z.object({ target: z.enum(['user', 'memory']).default('user') });

export const MemoryDeleted = z.object({
  object: z.literal('memory.deleted'),
  target: MemoryTarget,
  deleted: z.literal(true),
});
