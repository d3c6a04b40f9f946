import type { Page } from 'playwright-core';
import { openPageSession } from './devtools-session.ts';

const CALLS = ['XHR', 'Fetch'].map((resourceType) => ({
  urlPattern: '*',
  resourceType: resourceType as 'XHR' | 'Fetch',
}));

/**
 * When a script's call is answered 401 with HTTP authentication, the browser asks a person for user name and
 * password, and the page waits for it. This declines the prompt, so that the script gets its 401.
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
