import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { USER, page, serveAccount } from './server.ts';
import type { Accounts, Reply, SiteKind, Visit } from './server.ts';

/** A registered key as the site stores it. */
type StoredKey = { id: string; publicKey: Uint8Array<ArrayBuffer>; counter: number };

/** The state of a site that accepts passkeys, of its only account. */
export type PasskeySite = SiteKind & {
  keys: StoredKey[];
  /** assertions and registrations that arrived, and what became of them */
  log: string[];
};

type Ceremony = 'sign' | 'enrol';
type Options = {
  name: string;
  /** the page after the password: `none` asks for nothing more */
  after?: 'none' | 'offer' | 'demand' | 'key' | 'key-by-itself' | 'choice';
  /** the first page */
  first?: 'password' | 'button' | 'by-itself' | 'name';
  rpId: string;
  /** the site names the keys that it accepts */
  namesKeys?: boolean;
  /** of the keys that it registers, in COSE's numbers; absent: those that the library prefers */
  algorithms?: number[];
};

/** Runs in the page: one ceremony, as sites write it without a library. */
const SCRIPT = `
const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const say = (text) => { const p = document.createElement('p'); p.setAttribute('role', 'alert'); p.textContent = text; document.body.append(p); };
async function run(kind) {
  const of = async (path, body) => (await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body ?? {}) })).json();
  try {
    const options = await of('options-' + kind);
    const publicKey = { ...options, challenge: bytes(options.challenge) };
    const list = (keys) => (keys ?? []).map((key) => ({ ...key, id: bytes(key.id) }));
    if (kind === 'enrol') {
      publicKey.user = { ...options.user, id: bytes(options.user.id) };
      publicKey.excludeCredentials = list(options.excludeCredentials);
    } else publicKey.allowCredentials = list(options.allowCredentials);
    const made = await navigator.credentials[kind === 'enrol' ? 'create' : 'get']({ publicKey });
    const answer = await of('verify-' + kind, made.toJSON());
    if (answer.ok) location.href = 'account';
    else say(answer.message);
  } catch (error) {
    await of('failed', { name: error.name });
    say('The operation was cancelled or timed out.');
  }
}
`;

const shell = (title: string, body: string) => page(title, `${body}<script>${SCRIPT}</script>`);
const signButton = (text: string) => `<button type="button" onclick="run('sign')">${text}</button>`;

const PASSWORD_FORM = `<h1>Sign in</h1><form method="post" action="login">
  <label>Email <input name="username" autocomplete="username webauthn"></label>
  <label>Password <input type="password" name="password"></label><button>Sign in</button></form>`;

const FIRST: Record<NonNullable<Options['first']>, string> = {
  password: `${PASSWORD_FORM}${signButton('Sign in with a passkey')}`,
  button: `<h1>Sign in</h1>${signButton('Sign in with a passkey')}`,
  'by-itself': `<h1>Sign in</h1><p>Use your passkey to sign in.</p><script>addEventListener('load', () => run('sign'))</script>`,
  name: `<h1>Sign in</h1><form onsubmit="event.preventDefault(); run('sign')">
    <label>Email <input name="username"></label><button>Continue</button></form>`,
};

const SECOND: Record<NonNullable<Options['after']>, string> = {
  none: '',
  offer: `<h1>Create a passkey</h1><p>Sign in faster next time.</p>
    <button type="button" onclick="run('enrol')">Continue</button><a href="account">Not now</a>`,
  demand: `<h1>Create a passkey to continue</h1><p>Your organization requires a passkey.</p>
    <button type="button" onclick="run('enrol')">Create a passkey</button>`,
  key: `<h1>Use your security key</h1><p>Confirm that it is you.</p>${signButton('Continue')}`,
  'key-by-itself': `<h1>Use your security key</h1><p>Insert your security key and touch it.</p>
    <script>addEventListener('load', () => run('sign'))</script>`,
  choice: `<h1>Verify your identity</h1><p>Choose how you want to sign in.</p>
    <button type="button">Text +1 ••42</button><button type="button" onclick="run('sign')">Passkey</button>`,
};

const preferAlgorithms = ({ algorithms }: Options) =>
  algorithms === undefined ? {} : { supportedAlgorithmIDs: algorithms };

const describeRegistration = (site: Options) => ({
  rpName: 'Example',
  rpID: site.rpId,
  userName: USER,
  userID: new TextEncoder().encode('account-of-ada'),
  attestationType: 'none' as const,
  authenticatorSelection: { residentKey: 'required' as const, userVerification: 'required' as const },
  ...preferAlgorithms(site),
});

/** A small relying party: passwords, and passkeys verified by a maintained library. */
export function buildPasskeySite(site: Options): PasskeySite {
  const { name, rpId, after = 'none', first = 'password', namesKeys } = site;
  const keys: StoredKey[] = [];
  const log: string[] = [];
  let challenge = '';

  const options: Record<Ceremony, () => Promise<object>> = {
    async sign() {
      const allowCredentials = namesKeys === true ? { allowCredentials: keys.map(({ id }) => ({ id })) } : {};
      const made = await generateAuthenticationOptions({
        rpID: rpId,
        userVerification: 'required',
        ...allowCredentials,
      });
      challenge = made.challenge;
      return made;
    },
    async enrol() {
      const made = await generateRegistrationOptions(describeRegistration(site));
      challenge = made.challenge;
      return made;
    },
  };

  const verify: Record<Ceremony, (visit: Visit) => Promise<string | undefined>> = {
    async sign({ json, headers }) {
      const response = json as unknown as Parameters<typeof verifyAuthenticationResponse>[0]['response'];
      const key = keys.find(({ id }) => id === response.id);
      if (key === undefined) return 'We do not recognize this passkey.';
      const expected = { expectedChallenge: challenge, expectedOrigin: `http://${headers.host}`, expectedRPID: rpId };
      try {
        const { authenticationInfo } = await verifyAuthenticationResponse({ response, credential: key, ...expected });
        key.counter = authenticationInfo.newCounter;
        return undefined;
      } catch (error) {
        return `The passkey could not be verified: ${(error as Error).message}`;
      }
    },
    async enrol({ json, headers }) {
      const response = json as unknown as Parameters<typeof verifyRegistrationResponse>[0]['response'];
      const expected = { expectedChallenge: challenge, expectedOrigin: `http://${headers.host}`, expectedRPID: rpId };
      const { registrationInfo } = await verifyRegistrationResponse({
        response,
        ...expected,
        ...preferAlgorithms(site),
      });
      if (registrationInfo === undefined) return 'The passkey could not be verified.';
      const { id, publicKey, counter } = registrationInfo.credential;
      keys.push({ id, publicKey, counter });
      return undefined;
    },
  };

  const afterPassword = (visit: Visit, accounts: Accounts): Reply => {
    const isDone = after === 'none' || ((after === 'offer' || after === 'demand') && keys.length > 0);
    if (after === 'offer' || isDone) {
      const cookie = { 'set-cookie': accounts.begin(USER) };
      return { to: `${visit.base}/${isDone ? 'account' : 'second'}`, headers: cookie };
    }
    return { to: `${visit.base}/second` };
  };

  const act = async (visit: Visit, accounts: Accounts, kind: Ceremony): Promise<Reply> => {
    const message = await verify[kind](visit);
    log.push(`${kind}: ${message ?? 'ok'}`);
    if (message !== undefined) return { status: 400, body: { ok: false, message } };
    return { body: { ok: true }, headers: { 'set-cookie': accounts.begin(USER) } };
  };

  const serve = async (visit: Visit, accounts: Accounts): Promise<Reply> => {
    switch (visit.path) {
      case '/login':
        if (visit.method !== 'POST') return { body: shell('Sign in', FIRST[first]) };
        return accounts.check(visit.form.get('username') ?? '', visit.form.get('password') ?? '')
          ? afterPassword(visit, accounts)
          : { body: shell('Sign in', `<p role="alert">Wrong email or password.</p>${FIRST[first]}`) };
      case '/second':
        return { body: shell('One more step', SECOND[after]) };
      case '/options-sign':
        return { body: await options.sign() };
      case '/options-enrol':
        return { body: await options.enrol() };
      case '/verify-sign':
        return act(visit, accounts, 'sign');
      case '/verify-enrol':
        return act(visit, accounts, 'enrol');
      case '/failed':
        log.push(`failed: ${visit.json['name']}`);
        return { body: {} };
      default:
        return serveAccount(visit, accounts) ?? { status: 404, body: page('Not found', '') };
    }
  };

  return { name, keys, log, serve };
}
