import { setTimeout as sleep } from 'node:timers/promises';
import { LoginError } from './login-error.ts';
import { snapshotCookies } from './flow/cookies.ts';
import { collectSession } from './flow/collect.ts';
import type { CollectedSession } from './flow/collect.ts';
import { submit } from './flow/fill.ts';
import { fillRegistration } from './flow/fill-registration.ts';
import { waitForInlineChecks } from './flow/inline-checks.ts';
import type { NewAccount } from './flow/fill-registration.ts';
import { press } from './flow/page-actions.ts';
import type { ObservedPage } from './flow/page-observer.ts';
import { runFlow } from './flow/run.ts';
import { bindAnswers } from './login.ts';
import type { LoginPorts } from './login.ts';
import { withSite } from './open-site.ts';
import type { OpenedSite } from './open-site.ts';
import type { Site } from './site.ts';

export type SignupInput = NewAccount & { organizationId: string; site: Site };

export type SignedUp = {
  session: CollectedSession;
  /** what was typed as the user name */
  username: string;
  /** as given, or generated */
  password: string;
  /** the page to sign in on later */
  loginUrl: string;
};

const OBSERVE_EVERY_MS = 100;
/** ms that a page gets to show its form */
const FORM_MS = 6000;
const MAX_DISMISSED = 5;

/** Creates an account, confirms it if the site requires that, and signs in. Throws a `LoginError`. */
export function signUp(input: SignupInput, ports: LoginPorts): Promise<SignedUp> {
  return withSite(ports, input, {}, async (opened) => {
    const { signal } = ports;
    const before = await findForm(opened, signal);
    const { slot, traffic, observer } = opened;
    const { context } = slot;
    ports.recorder?.attach(context);
    const { site } = input;
    const answers = bindAnswers(ports.answers, slot);
    await answers.ready();
    const cookies = await snapshotCookies(context, site);
    traffic.startRecording([input.password, input.email].filter((text) => text !== undefined));
    const { password, last } = await fillRegistration(before, site, input);
    const username = input.username ?? input.email ?? '';
    const ids = before.plan.fields.filter(({ control }) => control === 'field').map(({ id }) => id);
    const waited = await waitForInlineChecks(before, ids, { traffic, signal });
    const shown = waited ? await observer.observe(signal) : before;
    traffic.markSubmit();
    await submit(before, last);
    const submitted = {
      step: 'registration' as const,
      before: shown,
      cookies,
      at: performance.now(),
      resubmitted: false,
    };
    const flow = runFlow(
      { site, method: 'password', username, password, fields: {} },
      {
        signal,
        answers,
        context,
        traffic,
        observer,
        egress: ports.egress,
        openStranger: () => slot.openStranger(),
        recorder: ports.recorder,
      },
      submitted,
    );
    const { url, loginUrl, signals } = await flow.finally(() => ports.recorder?.attach(undefined));
    const collected = await collectSession(context, site, opened.visited, url);
    const session = { ...collected, userAgent: slot.userAgent, signs: signals };
    return { session, username, password, loginUrl: loginUrl ?? site.url.href };
  });
}

async function findForm({ observer, traffic }: OpenedSite, signal: AbortSignal): Promise<ObservedPage> {
  const start = performance.now();
  for (let dismissed = 0; ;) {
    const observed = await observer.observe(signal);
    const { plan } = observed;
    const obstacle = plan.obstacles.find(({ dismiss }) => dismiss !== undefined)?.dismiss;
    if (obstacle !== undefined && dismissed < MAX_DISMISSED) {
      dismissed += 1;
      await press(observed.page, obstacle);
      continue;
    }
    if (plan.captcha || plan.kind === 'captcha') {
      throw new LoginError('captcha_required', 'The site requires a check that only a person can pass.');
    }
    if (plan.kind === 'registration' && plan.fields.length > 0) return observed;
    if (performance.now() - start > FORM_MS) throw buildMissingFormError(traffic.status, plan.kind);
    await sleep(OBSERVE_EVERY_MS, undefined, { signal });
  }
}

function buildMissingFormError(status: number, page: string): LoginError {
  if (status >= 500) {
    return new LoginError('site_unreachable', 'The site answered with an error.', { details: { status } });
  }
  return new LoginError('login_form_not_found', 'No signup form was found.', { details: { page } });
}
