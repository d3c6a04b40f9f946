import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext } from 'playwright-core';
import type { LoginMethod } from '../contract/shapes.ts';
import { LoginFault } from '../login-error.ts';
import { readMessageCause } from '../detection/outcome.ts';
import type { LoginPlan, Way } from '../detection/plan.ts';
import type { Site } from '../site.ts';
import { ignoreStale, isStale, press } from './page-actions.ts';
import { describeAsk } from './challenge.ts';
import type { Answers } from './challenge.ts';
import { hasNewCookie, markCookies } from './cookies.ts';
import type { CookieMarks } from './cookies.ts';
import { decideStep } from './decide.ts';
import type { Step } from './decide.ts';
import type { Sight, openEyes } from './page-observer.ts';
import { fillCode, fillCredentials, submit } from './fill.ts';
import type { Values } from './fill.ts';
import { CALM_MS, assess, findLinkButton } from './outcome.ts';
import type { Sent } from './outcome.ts';
import type { ProofSign } from './evidence.ts';
import { seekLogin } from './find-login-page.ts';
import type { Traffic } from './traffic.ts';
import { openUnread } from './model-fallback.ts';
import type { AskReader } from './model-fallback.ts';

export type FlowInput = Values & { site: Site; method: LoginMethod };

export type FlowPorts = {
  context: BrowserContext;
  traffic: Traffic;
  eyes: ReturnType<typeof openEyes>;
  answers: Answers;
  signal: AbortSignal;
  /** for pages on which the plan finds no login or several; absent: they fail */
  readForm?: AskReader | undefined;
};

export type FlowResult = { url: string; signs: ProofSign[] };

/** A submit whose outcome is awaited. */
type Pending = { sent: Sent; before: Sight; cookies: CookieMarks; at: number; again: boolean };

const LOOK_EVERY_MS = 60;
/** A second look has to agree before success is told. */
const CONFIRM_MS = 120;
/** After a submit: pressing it again by Enter when nothing at all was sent; giving up when nothing came of it. */
const RESEND_MS = 2500;
const GIVE_UP_MS = 15_000;
const STALE_TRIES = 6;
const MAX_CONFIRMED = 3;
/** Where a password is given it comes first; what the method names may follow it. */
function chooseWay({ method, password }: FlowInput): Way {
  if (password !== undefined) return 'password';
  return method === 'magic_link' ? 'link' : 'code';
}

const describe = ({ plan, url, document }: Sight) =>
  JSON.stringify([document, url, plan.kind, plan.reason, plan.username, plan.password, plan.code, plan.openers.length]);

/**
 * Signs in on the page that is in front: looks, does one thing, looks again, until two positive signs prove success.
 * Throws a `LoginError` that names how it failed, or the signal's reason. What was refused is not sent again.
 */
export async function runFlow(input: FlowInput, ports: FlowPorts): Promise<FlowResult> {
  const { signal, traffic, eyes } = ports;
  const means = {
    username: input.username !== undefined,
    password: input.password !== undefined,
    code: ports.answers.available,
    way: chooseWay(input),
  };
  const done = { dismissed: 0, opened: 0, usernameSent: false, passwordSent: false };
  let pending: Pending | undefined;
  /** since when every look at this address says that it is done */
  let likely: { url: string; at: number } | undefined;
  let shape = '';
  let since = performance.now();
  let stale = 0;
  let wrongCode = false;
  let confirmed = 0;
  let sought = false;

  const readUnread = openUnread(ports.readForm, () => eyes.look(signal));
  const act = async (step: Step, sight: Sight): Promise<void> => {
    switch (step.do) {
      case 'wait':
        await sleep(LOOK_EVERY_MS, undefined, { signal });
        return;
      case 'fail': {
        const fault = buildStepError(step, sight, ports);
        if (await seek(fault, sight)) return;
        throw fault;
      }
      case 'dismiss':
        done.dismissed += 1;
        return press(sight.page, step.id);
      case 'open':
        done.opened += 1;
        return press(sight.page, step.id);
      case 'fill':
        return sendCredentials(sight, step.plan);
      case 'choose':
        done.opened += 1;
        await sendCredentials(sight, step.plan);
        // Enter would send the form that stands beside.
        if (pending !== undefined) pending.again = true;
        return;
      case 'code':
        return sendCode(sight);
    }
  };
  const seek = async ({ code }: LoginError, { page, plan }: Sight): Promise<boolean> => {
    if (sought || done.usernameSent) return false;
    if (code !== 'login_form_not_found' || plan.reason === 'fill' || plan.reason === 'unseen') return false;
    sought = true;
    return seekLogin(page, input.site, signal);
  };
  const begin = async (sent: Sent, before: Sight): Promise<Pending> => {
    const cookies = await markCookies(ports.context, input.site);
    return { sent, before, cookies, at: performance.now(), again: false };
  };
  const sendCredentials = async (before: Sight, plan: LoginPlan): Promise<void> => {
    const sight = { ...before, plan };
    const withPassword = plan.password !== undefined;
    await ports.answers.ready();
    traffic.mark([input.username, input.password].filter((text) => text !== undefined));
    const next = await begin(withPassword ? 'password' : 'username', before);
    const last = await fillCredentials(sight, input.site, input);
    signal.throwIfAborted();
    done.usernameSent = true;
    done.passwordSent ||= withPassword;
    await send(sight, last, next);
  };
  const sendCode = async (sight: Sight): Promise<void> => {
    const ask = describeAsk(sight.text, sight.signs.sent, input.method);
    const given = await ports.answers.get(
      ask.kind === 'magic_link' ? { ...ask, kind: 'otp_email', wants: 'code' } : ask,
      wrongCode,
    );
    signal.throwIfAborted();
    if ('link' in given) return follow(sight, given.link);
    // The page may have changed while somebody looked for the code.
    const fresh = await eyes.look(signal);
    const now = fresh.plan.kind === 'one-time-code' ? fresh : sight;
    traffic.mark([given.code]);
    const next = await begin('code', now);
    const last = await fillCode(now, input.site, given.code);
    await send(now, last, next);
  };
  /** From here on something may have been sent, so whatever goes wrong, it is not sent again. */
  const send = async (sight: Sight, last: string, next: Pending): Promise<void> => {
    pending = { ...next, at: performance.now() };
    await submit(sight, last).catch(ignoreStale);
    // The time that a click takes is none that the site has had.
    pending.at = performance.now();
  };
  const follow = async (sight: Sight, link: string): Promise<void> => {
    if (!input.site.allows(link)) {
      throw new LoginError('unsafe_domain', 'The link leads to another site.', { details: { reason: 'link' } });
    }
    traffic.mark([]);
    pending = await begin('link', sight);
    await sight.page.goto(link, { waitUntil: 'commit' });
  };
  /** True when there is nothing more to do with this look. */
  const settle = async (sight: Sight, current: Pending): Promise<FlowResult | boolean> => {
    const newCookie = await hasNewCookie(ports.context, input.site, current.cookies);
    const dialogs = traffic.dialogs.map(readMessageCause).filter((cause) => cause !== undefined);
    const attempt = { before: current.before, submissions: traffic.submissions, newCookie, dialogs };
    // What is seen is as old as the look, whatever has happened since.
    const ageMs = performance.now() - sight.at;
    const sinceMs = Math.max(0, sight.at - current.at);
    const calmMs = Math.max(0, traffic.quietMs() - ageMs);
    // Pages that poll are never without a request.
    const quietMs = traffic.pending() > 0 && calmMs < GIVE_UP_MS / 5 ? 0 : calmMs;
    const verdict = assess(current.sent, sight, attempt, { quietMs, sinceMs });
    const looksDone = verdict.is === 'proven' || (verdict.is === 'pending' && verdict.likely === true);
    if (!looksDone) likely = undefined;
    else if (likely?.url !== sight.url) likely = { url: sight.url, at: performance.now() };
    const agreedMs = likely === undefined ? 0 : performance.now() - likely.at;
    switch (verdict.is) {
      case 'failed':
        throw verdict.fault;
      case 'proven':
        if (agreedMs >= CONFIRM_MS) return { url: sight.url, signs: verdict.signs };
        break;
      case 'next':
        pending = undefined;
        return false;
      case 'wrong-code':
        pending = undefined;
        wrongCode = true;
        return false;
      case 'pending':
        if (await waitOn(sight, current, sinceMs)) return true;
    }
    // No look is worth its time before it can decide.
    const nextMs = Math.max(CALM_MS - traffic.quietMs(), looksDone ? CONFIRM_MS - agreedMs : 0);
    await sleep(nextMs > 0 ? nextMs + 1 : LOOK_EVERY_MS, undefined, { signal });
    return true;
  };
  const waitOn = async (sight: Sight, current: Pending, sinceMs: number): Promise<boolean> => {
    const { sent } = sight.signs;
    const form = sight.plan.kind === 'one-time-code';
    if (sent !== undefined && !form && current.sent !== 'link' && traffic.idleMs() > LOOK_EVERY_MS * 5) {
      const given = await ports.answers.get(describeAsk(sight.text, sent, input.method), false);
      if ('link' in given) await follow(sight, given.link);
      return 'link' in given;
    }
    const button = findLinkButton(current.sent, sight);
    if (button !== undefined && confirmed < MAX_CONFIRMED && traffic.idleMs() > LOOK_EVERY_MS * 5) {
      confirmed += 1;
      pending = await begin('link', sight);
      await press(sight.page, button);
      return true;
    }
    const nothingSent = traffic.submissions.length === 0 && sight.document === current.before.document;
    if (nothingSent && !current.again && sinceMs > RESEND_MS && traffic.pending() === 0) {
      current.again = true;
      await submit({ page: sight.page, plan: { ...sight.plan, submit: undefined } }, lastField(sight));
      current.at = performance.now();
      return false;
    }
    // A site that still answers is waited for as long as the login has time.
    if (sinceMs > GIVE_UP_MS && traffic.quietMs() > GIVE_UP_MS / 3 && !traffic.awaits()) {
      throw new LoginError('login_timeout', 'The site gave no outcome.', { details: { reason: 'no_outcome' } });
    }
    return false;
  };

  for (;;) {
    const sight = await eyes.look(signal);
    const now = describe(sight);
    if (now !== shape) {
      shape = now;
      since = performance.now();
    }
    if (pending !== undefined) {
      const settled = await settle(sight, pending);
      if (typeof settled === 'object') return settled;
      if (settled) continue;
    }
    const progress = { ...done, stillMs: performance.now() - since, quietMs: traffic.idleMs() };
    try {
      const own = decideStep(sight, means, progress);
      const next = await readUnread(sight, own, means, progress);
      await act(next.step, next.sight);
      stale = 0;
    } catch (error) {
      if (!isStale(error) || (stale += 1) > STALE_TRIES) throw error;
      await sleep(LOOK_EVERY_MS, undefined, { signal });
    }
  }
}

function lastField({ plan }: Sight): string {
  return plan.password ?? plan.username ?? plan.code.at(-1) ?? '';
}

function buildStepError(step: Step & { do: 'fail' }, sight: Sight, { traffic }: FlowPorts): LoginError {
  const status = traffic.status();
  if (step.code === 'login_form_not_found' && status >= 500) {
    return new LoginError('site_unreachable', 'The site answered with an error.', { details: { status } });
  }
  const messages: Partial<Record<string, string>> = {
    login_form_not_found: 'No form to sign in with was found.',
    ambiguous_form: 'Several forms are equally likely to be the one to sign in with.',
    captcha_required: 'The site asks for a check that only a person can pass.',
    unsafe_domain: 'The form would send what is typed without encryption.',
    username_required: 'cred.username: is required by the form',
    password_required: 'cred.password: is required by the form',
  };
  const message = messages[step.reason] ?? messages[step.code] ?? 'The login failed.';
  return new LoginError(step.code, message, { details: { reason: step.reason, page: sight.plan.kind } });
}
