import { randomToken } from '../../../src/platform/crypto.ts';
import { page, serveAccount } from './server.ts';
import type { Accounts, Reply, SiteKind, Visit } from './server.ts';

const half = new Map<string, string>();

const form = ({ base }: Visit, shown = '') => `<h1>Sign in</h1>${shown}<form method="post" action="${base}/login">
  <label>E-mail <input type="email" name="username"></label><label>Password <input type="password" name="password"></label>
  <button>Sign in</button></form>`;

type Behind = (visit: Visit, accounts: Accounts, user: string) => Reply;

const finish = (visit: Visit, accounts: Accounts, user: string): Reply => ({
  to: `${visit.base}/account`,
  headers: { 'set-cookie': accounts.begin(user) },
});

/** After the right password: a cookie, a redirect, and a page that is visible only halfway through the login. */
function buildBetween(name: string, behind: Behind, { cookie = true }: { cookie?: boolean } = {}): SiteKind {
  return {
    name,
    serve(visit, accounts) {
      const route = `${visit.method} ${visit.path}`;
      if (route === 'GET /login') return { body: page('Sign in', form(visit)) };
      if (route === 'POST /login') {
        const user = visit.form.get('username') ?? '';
        if (!accounts.check(user, visit.form.get('password') ?? '')) {
          return { body: page('Sign in', form(visit, '<p>Your user name or password is incorrect.</p>')) };
        }
        const token = randomToken(16);
        half.set(token, user);
        const way = `${visit.base}/between${cookie ? '' : `?t=${token}`}`;
        return { to: way, ...(cookie && { headers: { 'set-cookie': `pend=${token}; Path=/; HttpOnly` } }) };
      }
      if (visit.path.startsWith('/between')) {
        const user = half.get(visit.cookies['pend'] ?? visit.query.get('t') ?? '');
        if (user === undefined) return { to: `${visit.base}/login` };
        return behind(visit, accounts, user);
      }
      return serveAccount(visit, accounts) ?? { status: 404, body: page('Not found', '<p>Nothing here.</p>') };
    },
  };
}

const show =
  (title: string, body: string): Behind =>
  () => ({ body: page(title, body) });
const button = (text: string, more = '') => `<button type="submit" ${more}>${text}</button>`;
const ask = (title: string, text: string, buttons: string[]) =>
  show(
    title,
    `<h1>${title}</h1><p>${text}</p><form method="post" action="">${buttons.map((each) => button(each)).join(' ')}</form>`,
  );

export type Between = { kind: SiteKind; status: number; error: string; details?: object };

const action = (kind: string, more: object = {}) => ({
  status: 409,
  error: 'action_required',
  details: { kind, ...more },
});
const labels = (...texts: string[]) => ({ options: texts.map((label, index) => ({ id: String(index + 1), label })) });

const chooser = `<h1>Verify your identity</h1><div role="button" tabindex="0">Text +X XXX-XXX-XX42</div>
  <div role="button" tabindex="0">Call +X XXX-XXX-XX42</div><a href="help">More information</a>`;
const google = `<h1>2-Step Verification</h1><p>Choose how you want to sign in:</p><ul>
  <li role="link" tabindex="0">Tap Yes on your phone or tablet</li><li role="link" tabindex="0">Get a verification code from the Google Authenticator app</li>
  <li role="link" tabindex="0">Get a verification code at (•••) •••-••42</li></ul><a href="help">Get help</a>`;
const okta = `<h2>Verify it's you with a security method</h2><p>Select from the following options</p>
  <div><span>Google Authenticator</span><a class="button" href="#a">Select</a></div>
  <div><span>Phone +1 XXX-XXX-0042</span><a class="button" href="#b">Select</a></div><a href="/out">Back to sign in</a>`;

/** Pages that real sites show after a right password. */
export const BETWEEN: readonly Between[] = [
  {
    kind: buildBetween('ms-factors', show('Sign in to your account', chooser)),
    ...action('choose_factor', labels('Text +X XXX-XXX-XX42', 'Call +X XXX-XXX-XX42')),
  },
  { kind: buildBetween('google-factors', show('2-Step Verification', google)), ...action('choose_factor') },
  {
    kind: buildBetween('okta-factors', show('Sign in', okta), { cookie: false }),
    ...action('choose_factor', labels('Google Authenticator', 'Phone +1 XXX-XXX-0042')),
  },
  {
    kind: buildBetween(
      'ms-number',
      show(
        'Sign in to your account',
        `<h1>Approve sign in request</h1><p>Open your Authenticator app, and enter the number shown to sign in.</p><div class="number">42</div><a href="x">I can't use my Microsoft Authenticator app right now</a>`,
      ),
    ),
    ...action('number_match', { hint: '42' }),
  },
  {
    kind: buildBetween('key', ask('Use your security key', 'Insert your security key and touch it.', [])),
    ...action('security_key'),
  },
  {
    kind: buildBetween(
      'enrol',
      ask('Set up two-factor authentication', 'Your organization requires it. Set it up to continue.', ['Set up now']),
    ),
    status: 422,
    error: 'enrolment_required',
  },
  {
    kind: buildBetween(
      'organizations',
      show(
        'Choose',
        '<h1>Choose an organization</h1><ul><li><a href="o1">Acme</a></li><li><a href="o2">Globex</a></li></ul>',
      ),
    ),
    ...action('choose_account', labels('Acme', 'Globex')),
  },
  {
    kind: buildBetween(
      'terms',
      ask('Updated terms', 'Please accept our updated terms to continue.', ['I accept', 'Decline']),
    ),
    ...action('terms'),
  },
  {
    kind: buildBetween('review', ask('Welcome', 'Your account is under review. You cannot access the dashboard.', [])),
    status: 422,
    error: 'account_suspended',
  },
  {
    kind: buildBetween(
      'authorize',
      ask('Authorize', 'Example App wants to access your account.', ['Authorize', 'Cancel']),
    ),
    ...action('consent', labels('Authorize', 'Cancel')),
  },
  {
    kind: buildBetween('went-wrong', ask('Something went wrong', 'An unexpected error occurred.', [])),
    status: 502,
    error: 'site_unreachable',
  },
  {
    kind: buildBetween(
      'wall',
      show(
        'Just a moment...',
        '<p>Checking your browser before you access the site.</p><div class="cf-turnstile" data-sitekey="x"></div>',
      ),
    ),
    status: 422,
    error: 'captcha_required',
  },
  {
    kind: buildBetween(
      'duo',
      ask('Check for a Duo Push', 'We sent a push to your device. Approve the request in Duo Mobile.', []),
    ),
    ...action('push'),
  },
  {
    kind: buildBetween(
      'expired-password',
      show(
        'Expired',
        '<div role="alert">Your password has expired. Choose a new password.</div><form method="post"><input type="password" name="a" placeholder="New password"><input type="password" name="b" placeholder="Repeat new password"><button>Save</button></form>',
      ),
    ),
    status: 422,
    error: 'password_change_required',
  },
];

const pressed = (name: string, title: string, buttons: string) =>
  buildBetween(name, (visit, accounts, user) =>
    visit.method === 'POST'
      ? finish(visit, accounts, user)
      : { body: page(title, `<h1>${title}</h1><form method="post" action="between">${buttons}</form>`) },
  );

/** Pages that are passed without a person. */
export const PASSED: readonly SiteKind[] = [
  pressed('stay', 'Stay signed in?', `${button('No')}${button('Yes')}`),
  pressed('bleiben', 'Angemeldet bleiben?', `${button('Nein')}${button('Ja')}`),
  pressed(
    'offer',
    'Create a passkey to sign in faster',
    `<button type="button">Create a passkey</button>${button('Not now')}`,
  ),
];

let approved = false;
/** Approves the request on the other device. */
export const approve = () => void (approved = true);

/** Continues on its own once the request is approved. */
export const PUSH_SITE: SiteKind = buildBetween('push', (visit, accounts, user) => {
  if (visit.path === '/between-status') return { body: { approved } };
  if (visit.path === '/between-done') return finish(visit, accounts, user);
  return {
    body: page(
      'Approve',
      `<h1>Approve sign in request</h1><p>We sent a notification to your phone.</p><script>setInterval(async () => {
      const answer = await fetch('between-status'); if ((await answer.json()).approved) location.href = 'between-done'; }, 200)</script>`,
    ),
  };
});

/** Asks for an organization, then lets in. */
export const PICKER_SITE: SiteKind = buildBetween('picker', (visit, accounts, user) => {
  if (visit.path === '/between-globex') return finish(visit, accounts, user);
  return {
    body: page(
      'Choose',
      '<h1>Choose an organization</h1><ul><li><a href="between-acme">Acme</a></li><li><a href="between-globex">Globex</a></li></ul>',
    ),
  };
});

/** Responses to a wrong password without a form or a styled message. */
function buildRefusal(name: string, refuse: (visit: Visit) => Reply): SiteKind {
  return {
    name,
    serve(visit, accounts) {
      const route = `${visit.method} ${visit.path}`;
      if (route === 'GET /login') return { body: page('Sign in', form(visit)) };
      if (route === 'POST /login') {
        const user = visit.form.get('username') ?? '';
        return accounts.check(user, visit.form.get('password') ?? '') ? finish(visit, accounts, user) : refuse(visit);
      }
      if (visit.path === '/denied') return { body: page('Denied', '<h1>Access denied</h1>') };
      if (visit.path === '/home') {
        return {
          body: page('Home', `<h1>Example</h1><p>Welcome to our site.</p><a href="${visit.base}/login">Sign in</a>`),
        };
      }
      if (visit.path === '/blank') return { body: page('Example', '<h1>Example</h1><p>Hello.</p>') };
      return serveAccount(visit, accounts) ?? { status: 404 };
    },
  };
}

const anonymous = () => `visitor=${randomToken(16)}; Path=/; HttpOnly`;
const plain = (text: string) => () => ({ body: page('Example', text) });

export const REFUSALS: readonly { kind: SiteKind; error: string }[] = [
  {
    kind: buildRefusal('tomcat', plain('<p>Invalid user name and/or password, please try again</p>')),
    error: 'invalid_credentials',
  },
  { kind: buildRefusal('denied', ({ base }) => ({ to: `${base}/denied` })), error: 'invalid_credentials' },
  { kind: buildRefusal('heading', plain('<h2>Login failed</h2>')), error: 'invalid_credentials' },
  { kind: buildRefusal('home', ({ base }) => ({ to: `${base}/home` })), error: 'invalid_credentials' },
  {
    kind: buildRefusal(
      'paragraph',
      plain('<p>Your username or password is incorrect.</p><a href="f">Forgot your password?</a>'),
    ),
    error: 'invalid_credentials',
  },
  {
    kind: buildRefusal('fresh-cookie', () => ({
      headers: { 'set-cookie': anonymous() },
      body: page('Example', '<p>We could not verify those details.</p><a href="login">Return to login</a>'),
    })),
    error: 'invalid_credentials',
  },
  {
    kind: buildRefusal('deutsch', plain('<p>Die Anmeldung ist fehlgeschlagen: Benutzername oder Passwort falsch.</p>')),
    error: 'invalid_credentials',
  },
  { kind: buildRefusal('json', () => ({ body: { status: 'error' } })), error: 'invalid_credentials' },
  {
    kind: buildRefusal('silent-cookie', ({ base }) => ({
      to: `${base}/blank`,
      headers: { 'set-cookie': anonymous() },
    })),
    error: 'login_unproven',
  },
];
