import type { BrowserContext } from 'playwright-core';
import { readMessageCause } from '../detection/outcome-signals.ts';
import { GIVE_UP_MS } from './after-submit.ts';
import type { SubmitView } from './after-submit.ts';
import { isAwayFromSite } from './at-provider.ts';
import { hasNewCookie } from './cookies.ts';
import { assess } from './outcome.ts';
import type { ObservedPage } from './page-observer.ts';
import type { FlowInput } from './ports.ts';
import type { Submitted } from './state.ts';
import type { Traffic } from './traffic.ts';

/**
 * ms after which a page counts as idle although it never stops sending requests, or as loaded without its last images
 */
const BUSY_MS = 3000;

/** Combines an observation with the network and the cookies since a submit. */
export async function viewSubmit(
  { context, traffic }: { context: BrowserContext; traffic: Traffic },
  input: FlowInput,
  { observed, submitted }: { observed: ObservedPage; submitted: Submitted },
): Promise<SubmitView> {
  const newCookie = await hasNewCookie(context, input.site, submitted.cookies);
  const dialogs = traffic.dialogs.map(readMessageCause).filter((cause) => cause !== undefined);
  const attempt = { before: submitted.before, submissions: traffic.submissions, newCookie, dialogs };
  // The observation keeps its own time, whatever has happened since.
  const now = performance.now();
  const sinceRequestMs = Math.max(0, traffic.sinceLastRequestMs() - (now - observed.at));
  const hasPending = traffic.countPending() > 0;
  // Pages that poll never stop sending requests.
  const networkIdleMs = hasPending && sinceRequestMs < BUSY_MS ? 0 : sinceRequestMs;
  const settled = !traffic.hasCallWithin(GIVE_UP_MS) && (observed.loaded || sinceRequestMs >= BUSY_MS);
  const sinceSubmitMs = Math.max(0, observed.at - submitted.at);
  const verdict = assess(submitted.step, observed, attempt, { networkIdleMs, sinceSubmitMs, settled });
  const isAway = verdict.is === 'proven' && isAwayFromSite(input, observed.url);
  return {
    snapshot: observed,
    verdict: isAway ? { is: 'pending', likely: false } : verdict,
    now,
    network: {
      idleMs: traffic.networkIdleMs(),
      sinceLastRequestMs: traffic.sinceLastRequestMs(),
      hasPending,
      awaitsResponse: traffic.awaitsResponse(),
      hasSubmissions: traffic.submissions.length > 0,
    },
  };
}
