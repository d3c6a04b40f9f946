import type { BrowserContext } from 'playwright-core';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Authenticator } from '../browser/passkeys.ts';
import type { HelpScope, LoginMethod } from '../contract/shapes.ts';
import type { SignInMethod } from '../detection/login-plan.ts';
import type { IdentityProvider } from '../identity-providers.ts';
import type { Recorder } from '../recorder.ts';
import type { Site } from '../site.ts';
import type { PageAnswers } from './challenge.ts';
import type { SuccessSignal } from './evidence.ts';
import type { Values } from './fill.ts';
import type { ReadPageForm } from './model-fallback.ts';
import type { PageObserver } from './page-observer.ts';
import type { NamedProof } from './session-check.ts';
import type { Traffic } from './traffic.ts';

export type FlowInput = Values & {
  site: Site;
  /** on whose pages the credentials are typed, and the pages of the site without them */
  provider?: IdentityProvider | undefined;
  ownSite?: Site | undefined;
  method: LoginMethod;
  proof?: NamedProof | undefined;
  help?: HelpScope | undefined;
};

/** The part of an authenticator that a login needs. */
export type FlowAuthenticator = Pick<
  Authenticator,
  'confirm' | 'isConfirming' | 'hasPasskeys' | 'mayEnrol' | 'signatures' | 'enrolled'
>;

export type FlowPorts = {
  context: BrowserContext;
  /** to compare the site's answers without the session; absent: only the page's own requests */
  egress?: Egress | undefined;
  /** opens a context without any session; the flow closes it */
  openStranger?: (() => Promise<BrowserContext>) | undefined;
  /** records observations and actions */
  recorder?: Pick<Recorder, 'note'> | undefined;
  traffic: Traffic;
  observer: PageObserver;
  answers: PageAnswers;
  /** of the account's passkeys; absent: it has none, and gets none */
  authenticator?: FlowAuthenticator | undefined;
  signal: AbortSignal;
  /** for pages on which detection finds no login or several; absent: such pages fail */
  readForm?: ReadPageForm | undefined;
};

export type FlowResult = {
  url: string;
  signals: SuccessSignal[];
  /** the page on which the credentials were typed; undefined if none were */
  loginUrl: string | undefined;
};

/** A given password comes first; the requested method may follow it. */
export function chooseMethod({ method, password }: FlowInput): SignInMethod {
  if (password !== undefined) return 'password';
  return method === 'magic_link' ? 'link' : 'code';
}
