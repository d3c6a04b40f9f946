// Tests: test/login/passkeys.test.ts
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import type { Passkey } from '../contract/passkeys.ts';
import { openPageSession } from './devtools-session.ts';

/** The passkeys of an account and what to do about their changes. */
export type PasskeyUse = {
  passkeys: readonly Passkey[];
  /** a page may create a passkey */
  mayEnrol: boolean;
  /** Stores the signature counter of a passkey after it has signed. */
  onUsed(used: Pick<Passkey, 'credentialId' | 'signCount'>): Promise<void>;
  /** Stores a passkey that a page has created. */
  onEnrolled(passkey: Passkey): Promise<void>;
};

/** The passkeys of an account, in virtual authenticators of its pages. */
export type Authenticator = {
  readonly hasPasskeys: boolean;
  readonly mayEnrol: boolean;
  /** whether it confirms what pages ask */
  readonly isConfirming: boolean;
  /** how often a passkey has signed */
  readonly signatures: number;
  /** how many passkeys pages have created */
  readonly enrolled: number;
  /** Confirms what pages ask from now on: until then a page cannot sign in by itself. Never throws. */
  confirm(): Promise<void>;
  /** Resolves once every change so far is stored; rejects if one is not. */
  settled(): Promise<void>;
};

/** A credential as the DevTools protocol describes it; binary values are base64. */
type PageCredential = {
  credentialId: string;
  rpId?: string;
  privateKey: string;
  userHandle?: string;
  signCount: number;
};

const toBase64 = (text: string) => Buffer.from(text, 'base64url').toString('base64');
const toBase64Url = (text: string) => Buffer.from(text, 'base64').toString('base64url');

/** Passkeys with a user handle are like those of a device; the others are like those of a security key. */
type Kind = 'device' | 'security-key';
const kindOf = ({ userHandle }: Passkey): Kind => (userHandle === undefined ? 'security-key' : 'device');

function describeAuthenticator(kind: Kind, isConfirming: boolean) {
  return {
    protocol: 'ctap2' as const,
    ctap2Version: 'ctap2_1' as const,
    transport: kind === 'device' ? ('internal' as const) : ('usb' as const),
    hasResidentKey: kind === 'device',
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: isConfirming,
  };
}

function toPageCredential(passkey: Passkey) {
  const { credentialId, rpId, privateKey, userHandle, signCount } = passkey;
  return {
    credentialId: toBase64(credentialId),
    isResidentCredential: userHandle !== undefined,
    rpId,
    privateKey: toBase64(privateKey),
    signCount,
    ...(userHandle !== undefined && { userHandle: toBase64(userHandle) }),
  };
}

class Authenticators implements Authenticator {
  readonly mayEnrol: boolean;
  readonly #use: PasskeyUse;
  readonly #passkeys: Map<string, Passkey>;
  readonly #opened = new Map<CDPSession, string[]>();
  #changes: Promise<void> = Promise.resolve();
  isConfirming = false;
  signatures = 0;
  enrolled = 0;

  constructor(use: PasskeyUse) {
    this.#use = use;
    this.mayEnrol = use.mayEnrol;
    this.#passkeys = new Map(use.passkeys.map((passkey) => [passkey.credentialId, passkey]));
  }

  get hasPasskeys(): boolean {
    return this.#passkeys.size > 0;
  }

  async add(page: Page): Promise<void> {
    const session = await openPageSession(page);
    await session.send('WebAuthn.enable', { enableUI: false });
    session.on('WebAuthn.credentialAsserted', ({ credential }) => this.#recordUse(credential));
    session.on('WebAuthn.credentialAdded', ({ credential }) => this.#recordEnrolment(credential));
    const ids: string[] = [];
    this.#opened.set(session, ids);
    page.once('close', () => this.#opened.delete(session));
    const passkeys = [...this.#passkeys.values()];
    for (const kind of ['device', 'security-key'] as const) {
      const own = passkeys.filter((passkey) => kindOf(passkey) === kind);
      if (own.length === 0 && !(kind === 'device' && this.mayEnrol)) continue;
      const options = describeAuthenticator(kind, this.isConfirming);
      const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', { options });
      ids.push(authenticatorId);
      for (const passkey of own) {
        await session.send('WebAuthn.addCredential', { authenticatorId, credential: toPageCredential(passkey) });
      }
    }
  }

  async confirm(): Promise<void> {
    this.isConfirming = true;
    for (const [session, ids] of this.#opened) {
      for (const authenticatorId of ids) {
        await session
          .send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: true })
          // The page has closed.
          .catch(() => undefined);
      }
    }
  }

  settled(): Promise<void> {
    return this.#changes;
  }

  #recordUse({ credentialId, signCount }: PageCredential): void {
    const id = toBase64Url(credentialId);
    const passkey = this.#passkeys.get(id);
    if (passkey === undefined) return;
    this.signatures += 1;
    // A page that opens later continues to count.
    this.#passkeys.set(id, { ...passkey, signCount });
    this.#store(() => this.#use.onUsed({ credentialId: id, signCount }));
  }

  #recordEnrolment({ credentialId, rpId, privateKey, userHandle, signCount }: PageCredential): void {
    const id = toBase64Url(credentialId);
    if (!this.mayEnrol || rpId === undefined || this.#passkeys.has(id)) return;
    const handle = userHandle === undefined || userHandle === '' ? {} : { userHandle: toBase64Url(userHandle) };
    const passkey = { credentialId: id, rpId, privateKey: toBase64Url(privateKey), signCount, ...handle };
    this.enrolled += 1;
    this.#passkeys.set(id, passkey);
    this.#store(() => this.#use.onEnrolled(passkey));
  }

  #store(change: () => Promise<void>): void {
    this.#changes = this.#changes.then(change);
    // `settled` rejects with it.
    this.#changes.catch(() => undefined);
  }
}

/** Gives the pages of a context the passkeys: those that are open before it resolves, later ones when they open. */
export async function addPasskeys(context: BrowserContext, use: PasskeyUse): Promise<Authenticator> {
  const authenticators = new Authenticators(use);
  // A page that closes meanwhile needs none.
  context.on('page', (page) => void authenticators.add(page).catch(() => undefined));
  for (const page of context.pages()) await authenticators.add(page);
  return authenticators;
}
