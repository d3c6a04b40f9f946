import { setTimeout as sleep } from 'node:timers/promises';
import { LoginFault } from './login-error.ts';
import { ignoreStale, press } from './flow/page-actions.ts';
import { collectSession } from './flow/collect.ts';
import type { CollectedSession } from './flow/collect.ts';
import { hasNewCookie, markCookies } from './flow/cookies.ts';
import type { Sight } from './flow/page-observer.ts';
import { fillCode, submit } from './flow/fill.ts';
import { assess, findLinkButton } from './flow/outcome.ts';
import type { Sent } from './flow/outcome.ts';
import { fillRegistration } from './flow/fill-registration.ts';
import type { NewAccount } from './flow/fill-registration.ts';
import { describeAsk } from './flow/challenge.ts';
import type { Answers } from './flow/challenge.ts';
import { runFlow } from './flow/run.ts';
import { findStanding } from './flow/session-check.ts';
import { askAt } from './login.ts';
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
    const sight = await findForm(opened, ports.signal);
    const { seat, traffic } = opened;
    const answers = askAt(ports.answers, seat);
    await answers.ready();
    const cookies = await markCookies(seat.context, input.site);
    traffic.mark([input.password, input.email].filter((text) => text !== undefined));
    const { password, last } = await fillRegistration(sight, input.site, input);
    const username = input.username ?? input.email ?? '';
    await submit(sight, last);
    const flow = { site: input.site, method: 'password' as const, username, password, fields: {} };
    const url = await confirm(opened, { input, answers, signal: ports.signal, sight, cookies }, async () => {
      const { signal } = ports;
      const result = await runFlow(flow, { signal, answers, context: seat.context, traffic, eyes: opened.eyes });
      return result.url;
    });
    const session = await collectSession(seat.context, input.site, opened.visited, url.page);
    return { session, username, password, loginUrl: url.login ?? input.site.url.href };
  });
}

async function findForm({ eyes, traffic }: OpenedSite, signal: AbortSignal): Promise<Sight> {
  const start = performance.now();
  for (let dismissed = 0; ;) {
    const sight = await eyes.look(signal);
    const { plan } = sight;
    const obstacle = plan.obstacles.find(({ dismiss }) => dismiss !== undefined)?.dismiss;
    if (obstacle !== undefined && dismissed < MAX_DISMISSED) {
      dismissed += 1;
      await press(sight.page, obstacle);
      continue;
    }
    if (plan.captcha || plan.kind === 'captcha') {
      throw new LoginError('captcha_required', 'The site asks for a check that only a person can pass.');
    }
    if (plan.kind === 'registration' && plan.fields.length > 0) return sight;
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
  sight: Sight;
  cookies: Awaited<ReturnType<typeof markCookies>>;
};

/** Follows a registration to its end: confirmation by code or link, a first login, or a session at once. */
async function confirm(
  opened: OpenedSite,
  { input, answers, signal, sight: first, cookies }: Submitted,
  logIn: () => Promise<string>,
): Promise<{ page: string; login?: string }> {
  const { eyes, traffic, seat } = opened;
  let sent = 'registration' as Sent;
  let before = first;
  let at = performance.now();
  let wrong = false;
  let confirmed = 0;
  let proven: { url: string; at: number } | undefined;
  let asked = false;

  const follow = async (sight: Sight, link: string): Promise<void> => {
    if (!input.site.allows(link)) throw new LoginError('unsafe_domain', 'The link leads to another site.');
    sent = 'link';
    await sight.page.goto(link, { waitUntil: 'commit' });
  };
  /** What the page does not say a letter may: without one, nobody knows whose session this is. */
  const askForProof = async (sight: Sight): Promise<void> => {
    if (asked) throw buildUnproven();
    asked = true;
    const given = await answers.get({ kind: 'email_verification', hint: null, wants: 'link' }, wrong);
    traffic.mark([]);
    before = sight;
    at = performance.now();
    proven = undefined;
    if (!('link' in given)) throw buildUnproven();
    await follow(sight, given.link);
  };
  /** Nothing where the site lets nobody in before a letter: then that has been followed. Many call it a wrong password. */
  const tryLogin = async (): Promise<string | undefined> => {
    try {
      return await logIn();
    } catch (error) {
      const waits = error instanceof LoginError && NOT_YET.has(error.code) && !asked;
      if (!waits) throw error;
      await askForProof(await eyes.look(signal));
      return undefined;
    }
  };
  for (;;) {
    const sight = await eyes.look(signal);
    const { plan, signs } = sight;
    const isLogin = (plan.kind === 'login' || plan.kind === 'username-first') && plan.reason === 'fill';
    if (isLogin && traffic.idleMs() > CONFIRM_MS) {
      const page = await tryLogin();
      if (page !== undefined) return { page, login: sight.url };
      continue;
    }
    const newCookie = await hasNewCookie(seat.context, input.site, cookies);
    const attempt = { before, submissions: traffic.submissions, newCookie, dialogs: [] };
    const verdict = assess(sent, sight, attempt, { quietMs: traffic.idleMs(), sinceMs: performance.now() - at });
    if (verdict.is === 'failed') throw verdict.fault;
    if (verdict.is === 'proven') {
      if (proven?.url !== sight.url) proven = { url: sight.url, at: performance.now() };
      if (performance.now() - proven.at > CONFIRM_MS) {
        const standing = await findStanding(sight, verdict.signs);
        if (standing === 'inside') return { page: sight.url };
        const page = standing === 'outside' ? await tryLogin() : undefined;
        if (page !== undefined) return { page };
        if (standing === 'unclear') await askForProof(sight);
        continue;
      }
    }
    if (verdict.is === 'wrong-code') wrong = true;
    const button = findLinkButton(sent, sight);
    if (button !== undefined && confirmed < MAX_CONFIRMED && traffic.idleMs() > CONFIRM_MS) {
      confirmed += 1;
      before = sight;
      at = performance.now();
      await press(sight.page, button).catch(ignoreStale);
      continue;
    }
    const asksCode =
      plan.kind === 'one-time-code' && plan.reason === 'fill' && (sent !== 'code' || verdict.is === 'wrong-code');
    const asksLink = !asksCode && signs.sent !== undefined && sent !== 'link';
    if ((asksCode || asksLink) && traffic.idleMs() > CONFIRM_MS) {
      const { hint } = describeAsk(sight.text, signs.sent, 'password');
      const given = await answers.get({ kind: 'email_verification', hint, wants: asksCode ? 'code' : 'link' }, wrong);
      traffic.mark('code' in given ? [given.code] : []);
      before = sight;
      at = performance.now();
      proven = undefined;
      if ('link' in given) {
        await follow(sight, given.link);
      } else if (asksCode) {
        sent = 'code';
        await submit(sight, await fillCode(sight, input.site, given.code));
      }
      continue;
    }
    if (performance.now() - at > OUTCOME_MS && traffic.quietMs() > OUTCOME_MS / 4 && !traffic.awaits()) {
      throw new LoginError('login_timeout', 'The site gave no outcome.', { details: { reason: 'no_outcome' } });
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}
