import { setTimeout as sleep } from 'node:timers/promises';
import { LoginError } from './login-error.ts';
import { ignoreStale, press } from './flow/page-actions.ts';
import { collectSession } from './flow/collect.ts';
import type { CollectedSession } from './flow/collect.ts';
import { hasNewCookie, snapshotCookies } from './flow/cookies.ts';
import type { ObservedPage } from './flow/page-observer.ts';
import { fillCode, submit } from './flow/fill.ts';
import { assess, findLinkButton } from './flow/outcome.ts';
import type { Sent } from './flow/outcome.ts';
import { fillRegistration } from './flow/fill-registration.ts';
import type { NewAccount } from './flow/fill-registration.ts';
import { describeChallenge } from './flow/challenge.ts';
import type { Answers } from './flow/challenge.ts';
import { runFlow } from './flow/run.ts';
import { findStanding } from './flow/session-check.ts';
import { bindAnswers } from './login.ts';
import type { LoginPorts } from './login.ts';
import type { Site } from './site.ts';
import { withSite } from './open-site.ts';
import type { OpenedSite } from './open-site.ts';

export type SignupInput = NewAccount & { organizationId: string; site: Site };

export type SignedUp = {
  session: CollectedSession;
  /** what was typed for the user name, and the password as given or made */
  username: string;
  password: string;
  /** where to sign in later */
  loginUrl: string;
};

const LOOK_EVERY_MS = 100;
/** ms that a page may take until it shows a form, and a submit until something comes of it */
const FORM_MS = 6000;
const OUTCOME_MS = 20_000;
const CONFIRM_MS = 300;
const MAX_DISMISSED = 5;
const MAX_CONFIRMED = 3;
const NOT_YET: ReadonlySet<string> = new Set(['account_locked', 'invalid_credentials']);

/** Makes an account, confirms it where the site asks for that, and signs in. Throws a `LoginError`. */
export function signUp(input: SignupInput, ports: LoginPorts): Promise<SignedUp> {
  return withSite(ports, input, {}, async (opened) => {
    const observed = await findForm(opened, ports.signal);
    const { slot, traffic } = opened;
    const answers = bindAnswers(ports.answers, slot);
    await answers.ready();
    const cookies = await snapshotCookies(slot.context, input.site);
    traffic.startRecording([input.password, input.email].filter((text) => text !== undefined));
    const { password, last } = await fillRegistration(observed, input.site, input);
    const username = input.username ?? input.email ?? '';
    await submit(observed, last);
    const flow = { site: input.site, method: 'password' as const, username, password, fields: {} };
    const url = await confirm(opened, { input, answers, signal: ports.signal, observed, cookies }, async () => {
      const { signal } = ports;
      const result = await runFlow(flow, {
        signal,
        answers,
        context: slot.context,
        traffic,
        observer: opened.observer,
      });
      return result.url;
    });
    const session = await collectSession(slot.context, input.site, opened.visited, url.page);
    return { session, username, password, loginUrl: url.login ?? input.site.url.href };
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
      throw new LoginError('captcha_required', 'The site asks for a check that only a person can pass.');
    }
    if (plan.kind === 'registration' && plan.fields.length > 0) return observed;
    if (performance.now() - start > FORM_MS) {
      const status = traffic.status();
      if (status >= 500)
        throw new LoginError('site_unreachable', 'The site answered with an error.', { details: { status } });
      throw new LoginError('login_form_not_found', 'No form to sign up with was found.', {
        details: { page: plan.kind },
      });
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}

function buildUnproven(): LoginError {
  return new LoginError('signup_rejected', 'Nothing shows that the new account can be used.', {
    details: { reason: 'unproven' },
  });
}

type Submitted = {
  input: SignupInput;
  answers: Answers;
  signal: AbortSignal;
  observed: ObservedPage;
  cookies: Awaited<ReturnType<typeof snapshotCookies>>;
};

/** Follows a registration to its end: confirmation by code or link, a first login, or a session at once. */
async function confirm(
  opened: OpenedSite,
  { input, answers, signal, observed: first, cookies }: Submitted,
  logIn: () => Promise<string>,
): Promise<{ page: string; login?: string }> {
  const { observer, traffic, slot } = opened;
  let sent = 'registration' as Sent;
  let before = first;
  let at = performance.now();
  let wrong = false;
  let confirmed = 0;
  let proven: { url: string; at: number } | undefined;
  let asked = false;

  const follow = async (observed: ObservedPage, link: string): Promise<void> => {
    if (!input.site.allows(link)) throw new LoginError('unsafe_domain', 'The link leads to another site.');
    sent = 'link';
    await observed.page.goto(link, { waitUntil: 'commit' });
  };
  /** What the page does not say a letter may: without one, nobody knows whose session this is. */
  const askForProof = async (observed: ObservedPage): Promise<void> => {
    if (asked) throw buildUnproven();
    asked = true;
    const given = await answers.get({ kind: 'email_verification', hint: null, wants: 'link' }, wrong);
    traffic.startRecording([]);
    before = observed;
    at = performance.now();
    proven = undefined;
    if (!('link' in given)) throw buildUnproven();
    await follow(observed, given.link);
  };
  /** Nothing where the site lets nobody in before a letter: then that has been followed. Many call it a wrong password. */
  const tryLogin = async (): Promise<string | undefined> => {
    try {
      return await logIn();
    } catch (error) {
      const waits = error instanceof LoginError && NOT_YET.has(error.code) && !asked;
      if (!waits) throw error;
      await askForProof(await observer.observe(signal));
      return undefined;
    }
  };
  for (;;) {
    const observed = await observer.observe(signal);
    const { plan, signals } = observed;
    const isLogin = (plan.kind === 'login' || plan.kind === 'username-first') && plan.reason === 'fill';
    if (isLogin && traffic.networkIdleMs() > CONFIRM_MS) {
      const page = await tryLogin();
      if (page !== undefined) return { page, login: observed.url };
      continue;
    }
    const newCookie = await hasNewCookie(slot.context, input.site, cookies);
    const attempt = { before, submissions: traffic.submissions, newCookie, dialogs: [] };
    const verdict = assess(sent, observed, attempt, {
      quietMs: traffic.networkIdleMs(),
      sinceMs: performance.now() - at,
    });
    if (verdict.is === 'failed') throw verdict.fault;
    if (verdict.is === 'proven') {
      if (proven?.url !== observed.url) proven = { url: observed.url, at: performance.now() };
      if (performance.now() - proven.at > CONFIRM_MS) {
        const standing = await findStanding(observed, verdict.signals);
        if (standing === 'inside') return { page: observed.url };
        const page = standing === 'outside' ? await tryLogin() : undefined;
        if (page !== undefined) return { page };
        if (standing === 'unclear') await askForProof(observed);
        continue;
      }
    }
    if (verdict.is === 'wrong-code') wrong = true;
    const button = findLinkButton(sent, observed);
    if (button !== undefined && confirmed < MAX_CONFIRMED && traffic.networkIdleMs() > CONFIRM_MS) {
      confirmed += 1;
      before = observed;
      at = performance.now();
      await press(observed.page, button).catch(ignoreStale);
      continue;
    }
    const asksCode =
      plan.kind === 'one-time-code' && plan.reason === 'fill' && (sent !== 'code' || verdict.is === 'wrong-code');
    const asksLink = !asksCode && signals.sent !== undefined && sent !== 'link';
    if ((asksCode || asksLink) && traffic.networkIdleMs() > CONFIRM_MS) {
      const { hint } = describeChallenge(observed.text, signals.sent, 'password');
      const given = await answers.get({ kind: 'email_verification', hint, wants: asksCode ? 'code' : 'link' }, wrong);
      traffic.startRecording('code' in given ? [given.code] : []);
      before = observed;
      at = performance.now();
      proven = undefined;
      if ('link' in given) {
        await follow(observed, given.link);
      } else if (asksCode) {
        sent = 'code';
        await submit(observed, await fillCode(observed, input.site, given.code));
      }
      continue;
    }
    if (
      performance.now() - at > OUTCOME_MS &&
      traffic.sinceLastRequestMs() > OUTCOME_MS / 4 &&
      !traffic.awaitsResponse()
    ) {
      throw new LoginError('login_timeout', 'The site gave no outcome.', { details: { reason: 'no_outcome' } });
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}
