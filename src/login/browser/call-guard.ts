import type { Page } from 'playwright-core';
import { openPageSession } from './devtools-session.ts';

const CALLS = ['XHR', 'Fetch'].map((resourceType) => ({
  urlPattern: '*',
  resourceType: resourceType as 'XHR' | 'Fetch',
}));

/** The calls of scripts: whether one with this body may be sent. */
export type MaySend = (body: string) => Promise<boolean>;

type Paused = { requestId: string; request: { postData?: string } };

/**
 * When a script's call is answered 401 with HTTP authentication, the browser asks a person for user name and
 * password, and the page waits for it. This declines the prompt, so that the script gets its 401. Calls that may not be
 * sent fail.
 */
export async function guardCalls(page: Page, maySend: MaySend): Promise<void> {
  const session = await openPageSession(page);
  const decide = async ({ requestId, request }: Paused) => {
    if (request.postData === undefined || (await maySend(request.postData))) {
      await session.send('Fetch.continueRequest', { requestId });
    } else {
      await session.send('Fetch.failRequest', { requestId, errorReason: 'ConnectionFailed' });
    }
  };
  session.on('Fetch.requestPaused', (paused) => {
    // The page may have gone.
    decide(paused).catch(() => undefined);
  });
  session.on('Fetch.authRequired', ({ requestId }) => {
    const authChallengeResponse = { response: 'CancelAuth' as const };
    session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => undefined);
  });
  await session.send('Fetch.enable', { handleAuthRequests: true, patterns: CALLS });
}
