import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext } from 'playwright-core';
import type { LoginMethod } from '../contract/shapes.ts';
import { LoginError } from '../login-error.ts';
import { readMessageCause } from '../detection/outcome.ts';
import type { LoginPlan, SignInMethod } from '../detection/plan.ts';
import type { Site } from '../site.ts';
import { ignoreStale, isStale, press } from './page-actions.ts';
import { describeChallenge } from './challenge.ts';
import type { Answers } from './challenge.ts';
import { hasNewCookie, snapshotCookies } from './cookies.ts';
import type { CookieSnapshot } from './cookies.ts';
import { decideStep } from './decide.ts';
import type { Step } from './decide.ts';
import type { ObservedPage, openPageObserver } from './page-observer.ts';
import { fillCode, fillCredentials, submit } from './fill.ts';
import type { Values } from './fill.ts';
import { CALM_MS, assess, findLinkButton } from './outcome.ts';
import type { Sent } from './outcome.ts';
import type { SuccessSignal } from './evidence.ts';
import { seekLogin } from './find-login-page.ts';
import type { Traffic } from './traffic.ts';
import { openUnread } from './model-fallback.ts';
import type { ReadPageForm } from './model-fallback.ts';

export type FlowInput = Values & { site: Site; method: LoginMethod };

export type FlowPorts = {
  context: BrowserContext;
  traffic: Traffic;
  observer: ReturnType<typeof openPageObserver>;
  answers: Answers;
  signal: AbortSignal;
  /** for pages on which the plan finds no login or several; absent: they fail */
  readForm?: ReadPageForm | undefined;
};

export type FlowResult = { url: string; signals: SuccessSignal[] };

/** A submit whose outcome is awaited. */
type Pending = { sent: Sent; before: ObservedPage; cookies: CookieSnapshot; at: number; again: boolean };

const LOOK_EVERY_MS = 60;
/** A second look has to agree before success is told. */
const CONFIRM_MS = 120;
/** After a submit: pressing it again by Enter when nothing at all was sent; giving up when nothing came of it. */
const RESEND_MS = 2500;
const GIVE_UP_MS = 15_000;
const STALE_TRIES = 6;
const MAX_CONFIRMED = 3;
/** Where a password is given it comes first; what the method names may follow it. */
function chooseMethod({ method, password }: FlowInput): SignInMethod {
  if (password !== undefined) return 'password';
  return method === 'magic_link' ? 'link' : 'code';
}

const describe = ({ plan, url, document }: ObservedPage) =>
  JSON.stringify([
    document,
    url,
    plan.kind,
    plan.reason,
    plan.username,
    plan.password,
    plan.code,
    plan.loginLinks.length,
  ]);

/**
 * Signs in on the page that is in front: looks, does one thing, looks again, until two positive signals prove success.
 * Throws a `LoginError` that names how it failed, or the signal's reason. What was refused is not sent again.
 */
export async function runFlow(input: FlowInput, ports: FlowPorts): Promise<FlowResult> {
  const { signal, traffic, observer } = ports;
  const available = {
    username: input.username !== undefined,
    password: input.password !== undefined,
    code: ports.answers.available,
    method: chooseMethod(input),
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

  const readUnread = openUnread(ports.readForm, () => observer.observe(signal));
  const act = async (step: Step, observed: ObservedPage): Promise<void> => {
    switch (step.do) {
      case 'wait':
        await sleep(LOOK_EVERY_MS, undefined, { signal });
        return;
      case 'fail': {
        const fault = buildStepFault(step, observed, ports);
        if (await seek(fault, observed)) return;
        throw fault;
      }
      case 'dismiss':
        done.dismissed += 1;
        return press(observed.page, step.id);
      case 'open':
        done.opened += 1;
        return press(observed.page, step.id);
      case 'fill':
        return sendCredentials(observed, step.plan);
      case 'choose':
        done.opened += 1;
        await sendCredentials(observed, step.plan);
        // Enter would send the form that stands beside.
        if (pending !== undefined) pending.again = true;
        return;
      case 'code':
        return sendCode(observed);
    }
  };
  const seek = async ({ code }: LoginError, { page, plan }: ObservedPage): Promise<boolean> => {
    if (sought || done.usernameSent) return false;
    if (code !== 'login_form_not_found' || plan.reason === 'fill' || plan.reason === 'unseen') return false;
    sought = true;
    return seekLogin(page, input.site, signal);
  };
  const begin = async (sent: Sent, before: ObservedPage): Promise<Pending> => {
    const cookies = await snapshotCookies(ports.context, input.site);
    return { sent, before, cookies, at: performance.now(), again: false };
  };
  const sendCredentials = async (before: ObservedPage, plan: LoginPlan): Promise<void> => {
    const observed = { ...before, plan };
    const withPassword = plan.password !== undefined;
    await ports.answers.ready();
    traffic.startRecording([input.username, input.password].filter((text) => text !== undefined));
    const next = await begin(withPassword ? 'password' : 'username', before);
    const last = await fillCredentials(observed, input.site, input);
    signal.throwIfAborted();
    done.usernameSent = true;
    done.passwordSent ||= withPassword;
    await send(observed, last, next);
  };
  const sendCode = async (observed: ObservedPage): Promise<void> => {
    const ask = describeChallenge(observed.text, observed.signals.sent, input.method);
    const given = await ports.answers.get(
      ask.kind === 'magic_link' ? { ...ask, kind: 'otp_email', wants: 'code' } : ask,
      wrongCode,
    );
    signal.throwIfAborted();
    if ('link' in given) return follow(observed, given.link);
    // The page may have changed while somebody looked for the code.
    const fresh = await observer.observe(signal);
    const now = fresh.plan.kind === 'one-time-code' ? fresh : observed;
    traffic.startRecording([given.code]);
    const next = await begin('code', now);
    const last = await fillCode(now, input.site, given.code);
    await send(now, last, next);
  };
  /** From here on something may have been sent, so whatever goes wrong, it is not sent again. */
  const send = async (observed: ObservedPage, last: string, next: Pending): Promise<void> => {
    pending = { ...next, at: performance.now() };
    await submit(observed, last).catch(ignoreStale);
    // The time that a click takes is none that the site has had.
    pending.at = performance.now();
  };
  const follow = async (observed: ObservedPage, link: string): Promise<void> => {
    if (!input.site.allows(link)) {
      throw new LoginError('unsafe_domain', 'The link leads to another site.', { details: { reason: 'link' } });
    }
    traffic.startRecording([]);
    pending = await begin('link', observed);
    await observed.page.goto(link, { waitUntil: 'commit' });
  };
  /** True when there is nothing more to do with this look. */
  const settle = async (observed: ObservedPage, current: Pending): Promise<FlowResult | boolean> => {
    const newCookie = await hasNewCookie(ports.context, input.site, current.cookies);
    const dialogs = traffic.dialogs.map(readMessageCause).filter((cause) => cause !== undefined);
    const attempt = { before: current.before, submissions: traffic.submissions, newCookie, dialogs };
    // What is seen is as old as the look, whatever has happened since.
    const ageMs = performance.now() - observed.at;
    const sinceMs = Math.max(0, observed.at - current.at);
    const calmMs = Math.max(0, traffic.sinceLastRequestMs() - ageMs);
    // Pages that poll are never without a request.
    const quietMs = traffic.pending() > 0 && calmMs < GIVE_UP_MS / 5 ? 0 : calmMs;
    const verdict = assess(current.sent, observed, attempt, { quietMs, sinceMs });
    const looksDone = verdict.is === 'proven' || (verdict.is === 'pending' && verdict.likely === true);
    if (!looksDone) likely = undefined;
    else if (likely?.url !== observed.url) likely = { url: observed.url, at: performance.now() };
    const agreedMs = likely === undefined ? 0 : performance.now() - likely.at;
    switch (verdict.is) {
      case 'failed':
        throw verdict.fault;
      case 'proven':
        if (agreedMs >= CONFIRM_MS) return { url: observed.url, signals: verdict.signals };
        break;
      case 'next':
        pending = undefined;
        return false;
      case 'wrong-code':
        pending = undefined;
        wrongCode = true;
        return false;
      case 'pending':
        if (await waitOn(observed, current, sinceMs)) return true;
    }
    // No look is worth its time before it can decide.
    const nextMs = Math.max(CALM_MS - traffic.sinceLastRequestMs(), looksDone ? CONFIRM_MS - agreedMs : 0);
    await sleep(nextMs > 0 ? nextMs + 1 : LOOK_EVERY_MS, undefined, { signal });
    return true;
  };
  const waitOn = async (observed: ObservedPage, current: Pending, sinceMs: number): Promise<boolean> => {
    const { sent } = observed.signals;
    const form = observed.plan.kind === 'one-time-code';
    if (sent !== undefined && !form && current.sent !== 'link' && traffic.networkIdleMs() > LOOK_EVERY_MS * 5) {
      const given = await ports.answers.get(describeChallenge(observed.text, sent, input.method), false);
      if ('link' in given) await follow(observed, given.link);
      return 'link' in given;
    }
    const button = findLinkButton(current.sent, observed);
    if (button !== undefined && confirmed < MAX_CONFIRMED && traffic.networkIdleMs() > LOOK_EVERY_MS * 5) {
      confirmed += 1;
      pending = await begin('link', observed);
      await press(observed.page, button);
      return true;
    }
    const nothingSent = traffic.submissions.length === 0 && observed.document === current.before.document;
    if (nothingSent && !current.again && sinceMs > RESEND_MS && traffic.pending() === 0) {
      current.again = true;
      await submit({ page: observed.page, plan: { ...observed.plan, submit: undefined } }, lastField(observed));
      current.at = performance.now();
      return false;
    }
    // A site that still answers is waited for as long as the login has time.
    if (sinceMs > GIVE_UP_MS && traffic.sinceLastRequestMs() > GIVE_UP_MS / 3 && !traffic.awaitsResponse()) {
      throw new LoginError('login_timeout', 'The site gave no outcome.', { details: { reason: 'no_outcome' } });
    }
    return false;
  };

  for (;;) {
    const observed = await observer.observe(signal);
    const now = describe(observed);
    if (now !== shape) {
      shape = now;
      since = performance.now();
    }
    if (pending !== undefined) {
      const settled = await settle(observed, pending);
      if (typeof settled === 'object') return settled;
      if (settled) continue;
    }
    const progress = { ...done, stillMs: performance.now() - since, quietMs: traffic.networkIdleMs() };
    try {
      const own = decideStep(observed, available, progress);
      const next = await readUnread(observed, own, available, progress);
      await act(next.step, next.observed);
      stale = 0;
    } catch (error) {
      if (!isStale(error) || (stale += 1) > STALE_TRIES) throw error;
      await sleep(LOOK_EVERY_MS, undefined, { signal });
    }
  }
}

function lastField({ plan }: ObservedPage): string {
  return plan.password ?? plan.username ?? plan.code.at(-1) ?? '';
}

function buildStepFault(step: Step & { do: 'fail' }, observed: ObservedPage, { traffic }: FlowPorts): LoginError {
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
  return new LoginError(step.code, message, { details: { reason: step.reason, page: observed.plan.kind } });
}
