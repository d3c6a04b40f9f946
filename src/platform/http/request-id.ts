import { newId } from '../ids.ts';

const OWN_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id for a request when it is fit for logs and headers, or a new one. */
export function chooseRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && OWN_ID.test(given) ? given : newId('req');
}
