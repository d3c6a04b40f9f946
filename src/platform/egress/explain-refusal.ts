import { EgressError } from './error.ts';
import type { Egress } from './egress.ts';

/**
 * Why requests to this address would always be refused; undefined where they are let out. A name that does not resolve
 * at the moment is not refused: it may resolve later, and is checked again then.
 */
export async function explainRefusal({ check }: Pick<Egress, 'check'>, url: string): Promise<string | undefined> {
  try {
    await check(url);
    return undefined;
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return error.code === 'refused' || error.code === 'bad_url' ? error.message : undefined;
  }
}
