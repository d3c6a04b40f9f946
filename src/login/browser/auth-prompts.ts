import type { Page } from 'playwright-core';
import { openPageSession } from './devtools-session.ts';

const CALLS = ['XHR', 'Fetch'].map((resourceType) => ({
  urlPattern: '*',
  resourceType: resourceType as 'XHR' | 'Fetch',
}));

/**
 * A call of a script that is answered 401 by HTTP authentication has the browser ask a person for user name and
 * password, and the page waits until that is answered. Declines, so that the script gets its 401.
 */
export async function declinePrompts(page: Page): Promise<void> {
  const session = await openPageSession(page);
  session.on('Fetch.requestPaused', ({ requestId }) => {
    session.send('Fetch.continueRequest', { requestId }).catch(() => undefined);
  });
  session.on('Fetch.authRequired', ({ requestId }) => {
    const authChallengeResponse = { response: 'CancelAuth' as const };
    session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => undefined);
  });
  await session.send('Fetch.enable', { handleAuthRequests: true, patterns: CALLS });
}
