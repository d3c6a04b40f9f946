import { setTimeout as sleep } from 'node:timers/promises';
import type { LoginError } from '../login-error.ts';
import type { Interstitial } from '../detection/interstitials.ts';
import type { LoginPlan } from '../detection/login-plan.ts';
import { decideAfterCheck, decideAfterSubmit } from './after-submit.ts';
import type { FlowAction, SubmitAction } from './after-submit.ts';
import { PersonalHelp, askForCode, askForEmailLink } from './ask-person.ts';
import { describeStep } from './challenge.ts';
import { unlessBroken } from './broken-document.ts';
import { snapshotCookies } from './cookies.ts';
import type { AvailableMethods, PageStep } from './decide.ts';
import { buildEndlessError, buildForeignLinkError, buildStepError } from './errors.ts';
import { fillCode, submit, submitByEnter } from './fill.ts';
import { findLoginPage, mayBeElsewhere } from './find-login-page.ts';
import { InlineChecks } from './inline-checks.ts';
import { findStart, withProvider } from './at-provider.ts';
import { askAboutPage } from './ask-about-page.ts';
import { buildInterstitialError } from './interstitial-errors.ts';
import { withModelFallback } from './model-fallback.ts';
import type { FlowInput, FlowPorts, FlowResult } from './ports.ts';
import { isNamedPage, proveSession } from './prove.ts';
import { pressOption } from './options.ts';
import { actWithPasskey, describeFilled, describePasskeyFailure, passByPasskey, readAvailable } from './passkey.ts';
import type { PasskeyAction } from './passkey.ts';
import type { SubmittedStep } from './outcome.ts';
import { ignoreStale, isStale, press } from './page-actions.ts';
import type { ObservedPage } from './page-observer.ts';
import { countProgress, describePage, markPasskey, markSent, recordSubmit, startFlow } from './state.ts';
import type { FlowState, Submitted } from './state.ts';
import { viewSubmit } from './submit-view.ts';

const OBSERVE_EVERY_MS = 60;
/** How often in a row a page may change during an action. */
const MAX_STALE = 6;
/** Maximum number of interstitial pages in one login. */
const MAX_PASSED = 8;

/**
 * Signs in on the current page: observes it, takes one step and observes it again, until success is proven.
 * `submitted`: the registration of a signup, which is followed to its end first. Throws a `LoginError` that names the
 * failure, or the signal's reason. Rejected values are never sent again.
 */
export function runFlow(input: FlowInput, ports: FlowPorts, submitted?: Submitted): Promise<FlowResult> {
  const isNamed = Object.values(input.proof ?? {}).some((value) => value !== undefined);
  return new Flow(input, ports, startFlow(submitted, isNamed)).run();
}

/** Executes the decisions of the pure transitions. */
class Flow {
  readonly #input: FlowInput;
  readonly #ports: FlowPorts;
  readonly #available: AvailableMethods;
  readonly #decidePage: ReturnType<typeof withProvider>;
  readonly #help: PersonalHelp;
  readonly #checks = new InlineChecks();
  #state: FlowState;
  #page = '';
  #changedAt = performance.now();
  #staleCount = 0;
  #loginUrl: string | undefined;

  constructor(input: FlowInput, ports: FlowPorts, state: FlowState) {
    this.#input = input;
    this.#ports = ports;
    this.#state = state;
    this.#help = new PersonalHelp(ports, input.help);
    this.#available = readAvailable(input, ports);
    const decide = withModelFallback(ports.readForm, () => this.#observe());
    this.#decidePage = withProvider(decide, input);
  }

  async run(): Promise<FlowResult> {
    for (;;) {
      const observed = await this.#observe();
      const described = describePage(observed);
      if (described !== this.#page) {
        this.#page = described;
        this.#changedAt = performance.now();
      }
      const action = await this.#decide(observed);
      this.#ports.recorder?.note(observed, this.#ports.traffic.status, action.do);
      if (action.do === 'finish') return { url: observed.url, signals: action.signals, loginUrl: this.#loginUrl };
      if (action.do === 'act-on-page') await this.#actOnPage(observed);
      else await this.#continueSubmit(action, observed);
    }
  }

  async #observe(): Promise<ObservedPage> {
    const { observer, signal, traffic } = this.#ports;
    return this.#help.apply(await unlessBroken(observer.observe(signal), traffic));
  }

  #sleep = (ms: number): Promise<void> => sleep(ms, undefined, { signal: this.#ports.signal });

  async #decide(observed: ObservedPage): Promise<FlowAction> {
    const { submitted } = this.#state;
    if (submitted === undefined) return { do: 'act-on-page' };
    const view = await viewSubmit(this.#ports, this.#input, { observed, submitted });
    if (this.#state.isNamed && (await isNamedPage(this.#input, observed, { submitted, view })))
      return { do: 'finish', signals: ['named'] };
    const { state, action } = decideAfterSubmit(this.#state, submitted, view);
    this.#state = state;
    if (action.do !== 'check-session') return action;
    const attempted = { state, submitted, signals: action.signals, site: this.#input.site, loginUrl: this.#loginUrl };
    const { session, signals } = await proveSession(this.#ports, observed, attempted);
    const checked = decideAfterCheck(state, submitted, { session, signals, view });
    this.#state = checked.state;
    return checked.action;
  }

  async #continueSubmit(action: SubmitAction, observed: ObservedPage): Promise<void> {
    switch (action.do) {
      case 'fail':
        return this.#askPerson(observed, describePasskeyFailure(action.error, this.#state, this.#ports));
      case 'wait':
        return this.#sleep(action.ms);
      case 'wait-for-idle':
        return this.#ports.observer.waitForIdle(observed);
      case 'request-link':
        return this.#requestLink(observed);
      case 'press-confirm':
        this.#recordSubmit(await this.#prepareSubmit('link', observed));
        return press(observed.page, action.id).catch(ignoreStale);
      case 'resubmit':
        return this.#resubmit(observed);
      case 'request-email':
        return this.#follow(observed, await askForEmailLink(this.#ports, this.#state.codeRejected));
      case 'pass-interstitial':
        return this.#passInterstitial(observed, action.found);
    }
  }

  /** A page that changes during an action is observed again. */
  async #actOnPage(observed: ObservedPage): Promise<void> {
    try {
      const idle = {
        unchangedMs: performance.now() - this.#changedAt,
        networkIdleMs: this.#ports.traffic.networkIdleMs(),
      };
      const { progress } = this.#state;
      const decided = await this.#decidePage(observed, { available: this.#available, progress, idle });
      await this.#perform(decided.step, decided.observed);
      this.#staleCount = 0;
    } catch (error) {
      if (!isStale(error) || (this.#staleCount += 1) > MAX_STALE) throw error;
      await this.#sleep(OBSERVE_EVERY_MS);
    }
  }

  async #perform(step: PageStep, observed: ObservedPage): Promise<void> {
    switch (step.do) {
      case 'wait':
        return this.#sleep(OBSERVE_EVERY_MS);
      case 'fail':
        if (await this.#findLoginPage(step, observed)) return;
        return this.#askPerson(observed, buildStepError(step, observed, this.#ports.traffic.status));
      case 'dismiss':
      case 'open':
        this.#state = countProgress(this.#state, step.do === 'open' ? 'opened' : 'dismissed');
        return press(observed.page, step.id);
      case 'fill':
        return this.#sendCredentials(observed, step.plan, false);
      case 'choose-method':
        this.#state = countProgress(this.#state, 'opened');
        // Enter would submit the form beside the button.
        return this.#sendCredentials(observed, step.plan, true);
      case 'code':
        return this.#sendCode(observed);
      case 'passkey':
        if (step.plan === undefined) return this.#usePasskey(observed, { use: 'sign', press: step.id });
        this.#state = markPasskey(this.#state, 'sign');
        return this.#sendCredentials(observed, step.plan, true);
    }
  }

  async #usePasskey(observed: ObservedPage, action: PasskeyAction): Promise<void> {
    this.#state = markPasskey(this.#state, action.use);
    const act = () => actWithPasskey(this.#ports, observed, action);
    if (action.use === 'sign') return this.#choose(observed, act, 'passkey');
    // The page that stays after an enrolment is one to skip.
    return this.#choose({ ...observed, interstitial: undefined }, act);
  }

  #recordSubmit(submitted: Submitted): void {
    this.#state = recordSubmit(this.#state, submitted);
  }

  async #findLoginPage({ code }: PageStep & { do: 'fail' }, { page, plan }: ObservedPage): Promise<boolean> {
    if (this.#state.searched || this.#state.progress.usernameSent || !mayBeElsewhere(code, plan)) return false;
    this.#state = { ...this.#state, searched: true };
    return findLoginPage(page, this.#input.site, this.#ports.signal);
  }

  async #prepareSubmit(step: SubmittedStep, before: ObservedPage): Promise<Submitted> {
    const cookies = await snapshotCookies(this.#ports.context, this.#input.site);
    return { step, before, cookies, at: performance.now(), resubmitted: false };
  }

  async #sendCredentials(observed: ObservedPage, plan: LoginPlan, resubmitted: boolean): Promise<void> {
    const { answers, traffic } = this.#ports;
    const { username, password } = this.#input;
    const target = { ...observed, plan };
    const step = describeFilled(plan.password !== undefined, this.#available);
    await answers.ready();
    await this.#ports.authenticator?.confirm();
    traffic.startRecording([username, password].filter((text) => text !== undefined));
    const prepared = await this.#prepareSubmit(step, observed);
    const { lastField, waited } = await this.#checks.typeCredentials(target, this.#input, this.#ports);
    const current = waited ? await this.#prepareSubmit(step, await this.#observe()) : prepared;
    this.#state = markSent(this.#state, step === 'password');
    this.#loginUrl ??= findStart(this.#input, observed.url);
    await this.#submit(target, lastField, { ...current, resubmitted });
  }

  async #sendCode(observed: ObservedPage): Promise<void> {
    const { traffic } = this.#ports;
    const challenge = this.#describeChallenge(observed, 'code');
    const byPerson = await this.#prepareSubmit('choice', observed);
    const answer = await askForCode(this.#ports, challenge, this.#state.codeRejected);
    if ('link' in answer) return this.#follow(observed, answer.link);
    if (!('code' in answer)) return this.#recordSubmit({ ...byPerson, resubmitted: true, at: performance.now() });
    // The page may have changed while the code was obtained.
    const current = await this.#observe();
    const target = current.plan.kind === 'one-time-code' ? current : observed;
    traffic.startRecording([answer.code]);
    const prepared = await this.#prepareSubmit('code', target);
    const lastField = await fillCode(target, this.#input.site, answer.code);
    await this.#submit(target, lastField, prepared);
  }

  /** From here on a request may have been sent, so nothing is sent again, whatever fails. */
  async #submit(target: ObservedPage, lastField: string, submitted: Submitted): Promise<void> {
    this.#recordSubmit({ ...submitted, at: performance.now() });
    await submit(target, lastField).catch(ignoreStale);
    // The site's time starts after the click.
    this.#recordSubmit({ ...submitted, at: performance.now() });
  }

  async #resubmit(observed: ObservedPage): Promise<void> {
    await submitByEnter(observed).catch(ignoreStale);
    if (this.#state.submitted !== undefined) this.#recordSubmit({ ...this.#state.submitted, at: performance.now() });
  }

  #describeChallenge(observed: ObservedPage, expects: 'code' | 'link') {
    const provesAddress = this.#state.goal === 'signup' && !this.#state.progress.passwordSent;
    return describeStep(observed, { method: this.#input.method, provesAddress }, expects);
  }

  /** Hands the live page to a person if help is allowed; throws the failure otherwise. */
  async #askPerson(observed: ObservedPage, failure: LoginError): Promise<void> {
    const prepared = await this.#prepareSubmit('choice', observed);
    const helped = await this.#help.ask(observed, failure);
    const wasSent = this.#state.submitted !== undefined || failure.code !== 'captcha_required';
    if (helped === 'moved' && wasSent) this.#recordSubmit({ ...prepared, resubmitted: true, at: performance.now() });
    else this.#state = { ...this.#state, submitted: undefined };
  }

  /** Reports an interstitial page, presses its button to continue, or asks the caller of the login. */
  async #passInterstitial(observed: ObservedPage, found: Interstitial): Promise<void> {
    const tried = { available: this.#available, progress: this.#state.progress };
    const passkey = passByPasskey(this.#ports, observed, { found, ...tried });
    if (passkey !== undefined) return this.#usePasskey(observed, passkey);
    const fatal = buildInterstitialError(found);
    if (fatal !== undefined) return this.#askPerson(observed, fatal);
    if (this.#state.passed >= MAX_PASSED) throw buildEndlessError();
    this.#state = { ...this.#state, passed: this.#state.passed + 1 };
    if (found.kind === 'pass') {
      return this.#choose(observed, () => press(observed.page, found.press ?? '').catch(ignoreStale));
    }
    const index = await askAboutPage(this.#ports, observed, found);
    await this.#choose(observed, async () => {
      if (index !== undefined) await pressOption(observed.page, found, index);
    });
  }

  async #choose(observed: ObservedPage, act: () => Promise<void>, step: SubmittedStep = 'choice'): Promise<void> {
    this.#ports.traffic.startRecording([]);
    const prepared = await this.#prepareSubmit(step, observed);
    this.#recordSubmit({ ...prepared, resubmitted: true });
    await act();
    this.#recordSubmit({ ...prepared, resubmitted: true, at: performance.now() });
  }

  async #requestLink(observed: ObservedPage): Promise<void> {
    const answer = await this.#ports.answers.get(this.#describeChallenge(observed, 'link'), false);
    if ('link' in answer) await this.#follow(observed, answer.link);
    else await this.#sleep(OBSERVE_EVERY_MS);
  }

  async #follow(observed: ObservedPage, link: string): Promise<void> {
    if (!this.#input.site.allows(link)) throw buildForeignLinkError();
    this.#ports.traffic.startRecording([]);
    this.#recordSubmit(await this.#prepareSubmit('link', observed));
    await observed.page.goto(link, { waitUntil: 'commit' });
  }
}
