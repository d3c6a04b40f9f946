import { randomToken } from '../../../src/platform/crypto.ts';
import { page, serveAccount } from './server.ts';
import type { Accounts, Reply, SiteKind, Visit } from './server.ts';
import { sentEmails } from './steps.ts';

const alert = (text: string) => `<p class="error" role="alert">${text}</p>`;
const login = (visit: Visit, shown = '') => `<h1>Log in</h1>${shown}<form method="post" action="${visit.base}/login">
  <label>E-mail <input type="email" name="email"></label><label>Password <input type="password" name="password"></label>
  <button>Log in</button></form>`;

type Turn = (visit: Visit, accounts: Accounts, email: string) => Reply;

function showStart(visit: Visit, accounts: Accounts): Reply {
  if (accounts.who(visit) === undefined) return { to: `${visit.base}/login` };
  return { body: page('Start', '<h1>Choose what you like</h1>') };
}

/** A registration in one step. `after` is its response, `confirm` that of the link in its email. */
function buildSignup(name: string, after: Turn, confirm?: Turn): SiteKind {
  const waiting = new Map<string, { email: string; password: string }>();
  const sendConfirmation = (visit: Visit, email: string, password: string) => {
    const token = randomToken(12);
    waiting.set(token, { email, password });
    sentEmails.push({ to: email, link: `${visit.base}/confirm?token=${token}` });
  };
  return {
    name,
    entry: '/register',
    serve(visit, accounts) {
      const route = `${visit.method} ${visit.path}`;
      const email = visit.form.get('email') ?? '';
      const password = visit.form.get('password') ?? '';
      switch (route) {
        case 'GET /register':
          return {
            body: page(
              'Register',
              `<h1>Create your account</h1><form method="post" action="${visit.base}/register">
              <label>E-mail <input type="email" name="email"></label><br>
              <label>Password <input type="password" name="password" autocomplete="new-password"></label><br>
              <button>Create account</button></form>`,
            ),
          };
        case 'POST /register': {
          if (confirm === undefined) accounts.passwords.set(email, password);
          else sendConfirmation(visit, email, password);
          return after(visit, accounts, email);
        }
        case 'GET /confirm': {
          const found = waiting.get(visit.query.get('token') ?? '');
          if (found === undefined || confirm === undefined) return { status: 404 };
          accounts.passwords.set(found.email, found.password);
          return confirm(visit, accounts, found.email);
        }
        case 'GET /login':
          return { body: page('Log in', login(visit)) };
        case 'POST /login':
          return accounts.check(email, password)
            ? { to: `${visit.base}/account`, headers: { 'set-cookie': accounts.begin(email) } }
            : { body: page('Log in', login(visit, alert('Wrong e-mail or password.'))) };
        case 'GET /start':
          return showStart(visit, accounts);
        default:
          return serveAccount(visit, accounts) ?? { status: 404 };
      }
    },
  };
}

/** A cookie of visitor statistics: it resembles a session cookie. */
const stranger = { 'set-cookie': 'visitor=0123456789abcdef; Path=/' };
const thanks =
  (more: string): Turn =>
  () => ({ headers: stranger, body: page('Thank you', `<h1>Thank you!</h1>${more}`) });
const withLogin: Turn = (visit, accounts, email) =>
  thanks(`<a href="${visit.base}/login">Log in</a>`)(visit, accounts, email);

export const SIGNUP_SITES: readonly SiteKind[] = [
  // No message mentions the email; the page offers to log in, which works only after the email.
  buildSignup('silent', withLogin, withLogin),
  // No message at all; the email signs in.
  buildSignup('mute', thanks(''), (visit, accounts, email) => ({
    to: `${visit.base}/account`,
    headers: { 'set-cookie': accounts.begin(email) },
  })),
  // The account can be used at once, by logging in.
  buildSignup('then-login', withLogin),
  // It is signed in at once, to a page without a marker; without the session the page redirects.
  buildSignup('at-once', (visit, accounts, email) => ({
    to: `${visit.base}/start`,
    headers: { 'set-cookie': accounts.begin(email) },
  })),
];
