import type { BrowserContext } from 'playwright-core';
import type { LoginTraceEntry } from './contract/logins.ts';
import type { ObservedPage } from './flow/page-observer.ts';
import { LoginError } from './login-error.ts';

const MAX_ENTRIES = 150;
const MAX_ITEMS = 30;
const MAX_TEXT = 200;
const PICTURE_MS = 8000;
/** Elements that accept typed text. */
const FIELDS = 'input:not([type=submit]):not([type=button]):not([type=image]),textarea,select,[contenteditable]';

/** Observations and actions of a login, without texts of its pages, and its live page while there is one. */
export type Recorder = {
  /** Records an observation and the action. Waiting on an unchanged page is recorded once. */
  note(observed: ObservedPage, status: number, action: string): void;
  readonly entries: readonly LoginTraceEntry[];
  /** `undefined`: the browser is closed */
  attach(context: BrowserContext | undefined): void;
  readonly hasPage: boolean;
  /** of the live page */
  readonly context: BrowserContext | undefined;
  /** JPEG of the live page with all its fields covered. Throws `not_found` without one. */
  takePicture(): Promise<Buffer>;
};

function describeAddress(url: string): string {
  const { origin = '', pathname = '' } = URL.parse(url) ?? {};
  return (origin === 'null' ? '' : origin + pathname).slice(0, MAX_TEXT);
}

function listFields({ plan }: ObservedPage): string[] {
  const parts = { username: plan.username, password: plan.password, submit: plan.submit, remember: plan.remember };
  const found = Object.entries(parts).flatMap(([name, id]) => (id === undefined ? [] : [name]));
  const codes = plan.code.length === 0 ? [] : [`code (${plan.code.length})`];
  return [...found, ...codes, ...[...plan.extra, ...plan.fields].map(({ role }) => role)].slice(0, MAX_ITEMS);
}

function listSignals({ signals, plan, loaded }: ObservedPage): string[] {
  const { failures, stated, otherWays } = signals;
  return [
    ...failures.map(({ cause }) => `message: ${cause}`),
    ...(stated === undefined ? [] : [`text: ${stated}`]),
    ...(['logout', 'account', 'confirm'] as const).filter((name) => signals[name] !== undefined),
    ...(['passwordField', 'passwordEmpty', 'promptsSignIn'] as const).filter((name) => signals[name]),
    ...(signals.messageSentNotice === undefined ? [] : [`sent: ${signals.messageSentNotice}`]),
    ...otherWays.providers.map((name) => `provider: ${name}`),
    ...(otherWays.passkey ? ['passkey'] : []),
    ...(plan.captcha ? ['captcha'] : []),
    ...(plan.loginLinks.length > 0 ? [`login links: ${plan.loginLinks.length}`] : []),
    ...(plan.obstacles.length > 0 ? [`covers: ${plan.obstacles.length}`] : []),
    ...(loaded ? [] : ['loading']),
  ].slice(0, MAX_ITEMS);
}

export function openRecorder(): Recorder {
  const startedAt = performance.now();
  const entries: LoginTraceEntry[] = [];
  let last = '';
  let context: BrowserContext | undefined;
  const findPage = () => context?.pages().findLast((page) => !page.isClosed());
  return {
    entries,
    note(observed, status, action) {
      const { plan, interstitial, url } = observed;
      const entry = {
        page: describeAddress(url),
        status,
        kind: plan.kind,
        reason: plan.reason,
        fields: listFields(observed),
        evidence: plan.evidence.slice(0, MAX_ITEMS).map((text) => text.slice(0, MAX_TEXT)),
        signals: listSignals(observed),
        between: interstitial?.kind ?? null,
        action,
      };
      const described = JSON.stringify(entry);
      if (described === last || entries.length >= MAX_ENTRIES) return;
      last = described;
      entries.push({ atMs: Math.round(performance.now() - startedAt), ...entry });
    },
    attach(opened) {
      context = opened;
    },
    get context() {
      return context;
    },
    get hasPage() {
      return findPage() !== undefined;
    },
    async takePicture() {
      const page = findPage();
      if (page === undefined) throw new LoginError('not_found', 'The login has no page any more.');
      const mask = page.frames().map((frame) => frame.locator(FIELDS));
      return page.screenshot({ type: 'jpeg', quality: 60, mask, maskColor: '#808080', timeout: PICTURE_MS });
    },
  };
}
