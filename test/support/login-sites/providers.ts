import { randomToken } from '../../../src/platform/crypto.ts';
import { page } from './server.ts';
import type { Accounts, Reply, SiteKind, Visit } from './server.ts';

/** Codes that providers have issued, and for whom. */
const issued = new Map<string, string>();

const input = (name: string, label: string, type: string) =>
  `<label>${label} <input name="${name}" type="${type}" autocomplete="${type === 'password' ? 'current-password' : 'username'}"></label>`;
const hidden = (name: string, value: string) => `<input type="hidden" name="${name}" value="${value}">`;

/** Back to the site, with a code for whoever has signed in. */
function leave(visit: Visit, accounts: Accounts, user: string): Reply {
  const code = randomToken(16);
  issued.set(code, user);
  const back = new URL(visit.form.get('back') ?? visit.query.get('back') ?? '');
  back.searchParams.set('code', code);
  return { to: back.href, headers: { 'set-cookie': accounts.begin(user) } };
}

type Step = (visit: Visit, accounts: Accounts) => Reply;
type Steps = Record<string, Step>;

function buildProvider(name: string, steps: Steps): SiteKind {
  return {
    name,
    serve: (visit, accounts) => steps[`${visit.method} ${visit.path}`]?.(visit, accounts) ?? { status: 404 },
  };
}

const post = (action: string, body: string) => `<form method="post" action="${action}">${body}</form>`;
const backOf = ({ form, query }: Visit) => (form.get('back') ?? query.get('back') ?? '').replaceAll('&', '&amp;');

/** As Google: the address first, then the password, then what the site may see. */
function buildGoogle(asksConsent: boolean): SiteKind {
  const email = (visit: Visit, shown = '') =>
    page(
      'Sign in - Google Accounts',
      `<h1>Sign in</h1><p>to continue to Example</p>${shown}${post('identifier', `${input('identifier', 'Email or phone', 'email')}${hidden('back', backOf(visit))}<button type="button" onclick="location.href='forgot'">Forgot email?</button><a href="signup">Create account</a><button>Next</button>`)}`,
    );
  const password = (visit: Visit, shown = '') =>
    page(
      'Sign in - Google Accounts',
      `<h1>Welcome</h1><div>${visit.form.get('identifier')}</div>${shown}${post('password', `${input('password', 'Enter your password', 'password')}${hidden('identifier', visit.form.get('identifier') ?? '')}${hidden('back', backOf(visit))}<button>Next</button>`)}`,
    );
  return buildProvider(asksConsent ? 'google-consent' : 'google', {
    'GET /authorize': (visit) => ({ body: email(visit) }),
    'POST /identifier': (visit, { passwords }) => ({
      body: passwords.has(visit.form.get('identifier') ?? '')
        ? password(visit)
        : email(visit, '<div aria-live="assertive">Couldn’t find your Google Account</div>'),
    }),
    'POST /password': (visit, accounts) => {
      const user = visit.form.get('identifier') ?? '';
      if (!accounts.check(user, visit.form.get('password') ?? '')) {
        const wrong = 'Wrong password. Try again or click ‘Forgot password’ to reset it.';
        return { body: password(visit, `<div aria-live="assertive">${wrong}</div>`) };
      }
      if (!asksConsent) return leave(visit, accounts, user);
      return {
        body: page(
          'Sign in - Google Accounts',
          `<h1>Example wants to access your Google Account</h1><p>${user}</p>${post('allow', `${hidden('identifier', user)}${hidden('back', backOf(visit))}<button>Allow</button>`)}<button>Cancel</button>`,
        ),
      };
    },
    'POST /allow': (visit, accounts) => leave(visit, accounts, visit.form.get('identifier') ?? ''),
  });
}

/** As GitHub: one form. */
const github = buildProvider('github', {
  'GET /authorize': (visit) => ({ body: page('Sign in to GitHub', githubForm(visit)) }),
  'POST /session': (visit, accounts) => {
    const user = visit.form.get('login') ?? '';
    return accounts.check(user, visit.form.get('password') ?? '')
      ? leave(visit, accounts, user)
      : {
          body: page(
            'Sign in to GitHub',
            githubForm(visit, '<div class="flash flash-error" role="alert">Incorrect username or password.</div>'),
          ),
        };
  },
});

function githubForm(visit: Visit, shown = ''): string {
  return `<h1>Sign in to GitHub</h1><p>to continue to Example</p>${shown}${post('session', `${input('login', 'Username or email address', 'text')}${input('password', 'Password', 'password')}${hidden('back', backOf(visit))}<a href="reset">Forgot password?</a><button>Sign in</button>`)}<a href="passkey">Sign in with a passkey</a>`;
}

/** As Microsoft: the name, the password, and whether to stay signed in. */
const microsoft = buildProvider('microsoft', {
  'GET /authorize': (visit) => ({
    body: page(
      'Sign in to your account',
      `<h1>Sign in</h1>${post('name', `<input name="loginfmt" type="email" placeholder="Email, phone, or Skype" aria-label="Enter your email, phone, or Skype">${hidden('back', backOf(visit))}<a href="reset">Can’t access your account?</a><input type="submit" value="Next">`)}`,
    ),
  }),
  'POST /name': (visit) => ({ body: microsoftPassword(visit) }),
  'POST /password': (visit, accounts) => {
    const user = visit.form.get('loginfmt') ?? '';
    if (!accounts.check(user, visit.form.get('passwd') ?? '')) {
      const wrong = 'Your account or password is incorrect. If you don’t remember your password, reset it now.';
      return { body: microsoftPassword(visit, `<div role="alert" class="alert-error">${wrong}</div>`) };
    }
    return {
      body: page(
        'Sign in to your account',
        `<h1>Stay signed in?</h1><p>Do this to reduce the number of times you are asked to sign in.</p>${post('stay', `${hidden('loginfmt', user)}${hidden('back', backOf(visit))}<input type="submit" value="No"><input type="submit" value="Yes">`)}`,
      ),
    };
  },
  'POST /stay': (visit, accounts) => leave(visit, accounts, visit.form.get('loginfmt') ?? ''),
});

function microsoftPassword(visit: Visit, shown = ''): string {
  const user = visit.form.get('loginfmt') ?? '';
  return page(
    'Sign in to your account',
    `<div>${user}</div><h1>Enter password</h1>${shown}${post('password', `<input name="passwd" type="password" placeholder="Password">${hidden('loginfmt', user)}${hidden('back', backOf(visit))}<input type="submit" value="Sign in">`)}`,
  );
}

export const PROVIDERS: readonly SiteKind[] = [buildGoogle(false), buildGoogle(true), github, microsoft];

/** A site that signs in by itself or by other services. Whoever a service names is in, but for `unlinked@…`. */
export const buildRelying = (providerUrl: (name: string) => string): SiteKind => ({
  name: 'relying',
  serve(visit, accounts) {
    const back = encodeURIComponent(`${visit.base}/callback`);
    const to = (name: string) => `${providerUrl(name)}/authorize?back=${back}`;
    const user = accounts.who(visit);
    const form = `<h1>Sign in</h1><form method="post"><label>E-mail <input type="email" name="username"></label><label>Password <input type="password" name="password"></label><button>Sign in</button></form>
      <a href="${to('google')}">Sign up with Google</a><a class="btn" href="${to('google')}">Continue with Google</a>
      <button onclick="location.href='${to('github')}'">Sign in with GitHub</button>
      <button onclick="location.href='${to('microsoft')}'" aria-label="Microsoft"><svg width="20" height="20"></svg></button>
      <a href="${to('google-consent')}">Acme ID</a>`;
    if (visit.method === 'POST') {
      accounts.check(visit.form.get('username') ?? '', visit.form.get('password') ?? '');
      return { body: page('Sign in', form) };
    }
    if (visit.path === '/callback') {
      const name = issued.get(visit.query.get('code') ?? '');
      if (name === undefined || name.startsWith('unlinked')) {
        return { body: page('Sign in', `<p>No account is linked to this service.</p>${form}`) };
      }
      return { to: `${visit.base}/account`, headers: { 'set-cookie': accounts.begin(name).replace('sid=', 'own=') } };
    }
    const own = accounts.sessions.get(visit.cookies['own'] ?? '') ?? user;
    if (visit.path === '/account') {
      if (own === undefined) return { to: `${visit.base}/login` };
      return { body: page('Account', `<h1>Protected</h1><p>Of ${own}</p>`) };
    }
    return visit.path === '/login' ? { body: page('Sign in', form) } : { status: 404 };
  },
});
