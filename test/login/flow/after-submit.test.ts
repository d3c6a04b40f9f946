import { expect, it } from 'vitest';
import { planLogin } from '../../../src/login/detection/classify.ts';
import { readOutcome } from '../../../src/login/detection/outcome-signals.ts';
import { GIVE_UP_MS, decideAfterSubmit } from '../../../src/login/flow/after-submit.ts';
import type { SubmitView } from '../../../src/login/flow/after-submit.ts';
import type { PageSnapshot } from '../../../src/login/flow/evidence.ts';
import { startFlow } from '../../../src/login/flow/state.ts';
import type { Submitted } from '../../../src/login/flow/state.ts';

const snapshot: PageSnapshot = {
  url: 'https://example.com/login',
  document: '1:1',
  loaded: true,
  failed: false,
  plan: planLogin({ frames: [] }),
  signals: readOutcome({ frames: [] }),
  interstitial: undefined,
};
const submitted: Submitted = { step: 'password', before: snapshot, cookies: new Map(), at: 0, resubmitted: true };
const silentMs = GIVE_UP_MS + 1;
const view: SubmitView = {
  snapshot,
  verdict: { is: 'pending', likely: false },
  now: silentMs,
  network: {
    idleMs: silentMs,
    sinceLastRequestMs: silentMs,
    hasPending: false,
    awaitsResponse: false,
    hasSubmissions: true,
  },
};

it('gives up on a silent site only once its page had time to draw what it received', () => {
  const first = decideAfterSubmit(startFlow(), submitted, view);
  expect(first.action).toEqual({ do: 'wait-for-idle' });
  expect(decideAfterSubmit(first.state, submitted, view).action).toMatchObject({
    do: 'fail',
    error: { code: 'login_timeout' },
  });
  const next = { ...view, snapshot: { ...snapshot, document: '1:2' } };
  expect(decideAfterSubmit(first.state, submitted, next).action).toEqual({ do: 'wait-for-idle' });
});
