import { MEMORY_LIMITS, countCharacters } from '../../contract/memory.ts';
import type { MemoryTarget } from '../../contract/memory.ts';

/** `45% - 990/2200 chars` */
export function describeUsage(target: MemoryTarget, content: string): string {
  const used = countCharacters(content);
  const limit = MEMORY_LIMITS[target];
  return `${Math.floor((used / limit) * 100)}% - ${used}/${limit} chars`;
}
