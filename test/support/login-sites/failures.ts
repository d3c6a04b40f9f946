import { setTimeout as sleep } from 'node:timers/promises';
import { randomToken } from '../../../src/platform/crypto.ts';
import { page, serveAccount } from './server.ts';
import type { Reply, SiteKind, Visit } from './server.ts';
import { sentEmails } from './steps.ts';

/** More than the flow gives a page on which nothing happens. */
const SLOW_MS = 17_000;

const form = (visit: Visit, extra = '', shown = '') => `<h1>Sign in</h1>${shown}
  <form method="post" action="${visit.base}/login"><label>User name <input name="username" autocomplete="username"></label><br>
  <label>Password <input type="password" name="password" autocomplete="current-password"></label><br>${extra}<button>Sign in</button></form>`;

/** A page on which no login succeeds. */
function buildPage(name: string, draw: (visit: Visit) => string, after?: (visit: Visit) => Reply): SiteKind {
  return {
    name,
    serve(visit, accounts) {
      if (visit.method === 'POST') {
        accounts.attempts.push({ username: visit.form.get('username') ?? '', ok: false });
        if (after !== undefined) return after(visit);
      }
      return { body: page('Site', draw(visit)) };
    },
  };
}

const alert = (text: string) => `<div class="alert alert-danger" role="alert">${text}</div>`;
const accountsToConfirm = new Map<string, { email: string; password: string }>();

/** Registration with an email to confirm it, then a login. */
const signup: SiteKind = {
  name: 'signup',
  entry: '/register',
  serve(visit, accounts) {
    const route = `${visit.method} ${visit.path}`;
    const draw = (shown = '') => ({
      body: page(
        'Register',
        `<h1>Create your account</h1>${shown}<form method="post" action="${visit.base}/register">
        <label>E-mail <input type="email" name="email" autocomplete="email" required></label><br>
        <label>Company <input name="company"></label><br>
        <label>Password <input type="password" name="password" autocomplete="new-password" minlength="10" maxlength="24" required></label><br>
        <label>Repeat password <input type="password" name="again" autocomplete="new-password" required></label><br>
        <label><input type="checkbox" name="terms" required> I agree to the terms of service</label><br>
        <button>Create account</button></form>`,
      ),
    });
    if (route === 'GET /register') return draw();
    if (route === 'POST /register') {
      const email = visit.form.get('email') ?? '';
      const password = visit.form.get('password') ?? '';
      const good = password.length >= 10 && password === visit.form.get('again') && visit.form.has('terms');
      if (!good) return draw(alert('Please check the form.'));
      if (accounts.passwords.has(email)) return draw(alert('An account with this e-mail already exists.'));
      const token = randomToken(12);
      accountsToConfirm.set(token, { email, password });
      sentEmails.push({ to: email, link: `${visit.base}/confirm?token=${token}` });
      return {
        body: page(
          'Confirm',
          `<h1>Check your e-mail</h1><p>We have sent a confirmation link to ${email}. Click the link to activate your account.</p>`,
        ),
      };
    }
    if (visit.path === '/confirm') {
      const found = accountsToConfirm.get(visit.query.get('token') ?? '');
      if (found === undefined) return { body: page('Confirm', alert('The link is invalid or has expired.')) };
      accounts.passwords.set(found.email, found.password);
      return { to: `${visit.base}/login` };
    }
    if (route === 'GET /login') return { body: page('Sign in', form(visit)) };
    if (route === 'POST /login') {
      const username = visit.form.get('username') ?? '';
      if (!accounts.check(username, visit.form.get('password') ?? '')) {
        return { body: page('Sign in', form(visit, '', alert('Wrong user name or password.'))) };
      }
      return { to: `${visit.base}/account`, headers: { 'set-cookie': accounts.begin(username) } };
    }
    return serveAccount(visit, accounts) ?? { status: 404 };
  },
};

const SEND_BY_SCRIPT = `<script>document.forms[0].onsubmit = async (event) => {
  event.preventDefault();
  const { action } = event.target;
  const answer = await fetch(action, { method: 'POST', body: new URLSearchParams(new FormData(event.target)) });
  if (answer.ok) location.href = action.replace(/login$/, 'account');
}</script>`;

/** Answers a login late, after longer than a page may stay unchanged. */
export const SLOW_SITE: SiteKind = {
  name: 'slow',
  async serve(visit, accounts) {
    if (visit.method !== 'POST') {
      return serveAccount(visit, accounts) ?? { body: page('Sign in', form(visit) + SEND_BY_SCRIPT) };
    }
    const username = visit.form.get('username') ?? '';
    const isRight = accounts.check(username, visit.form.get('password') ?? '');
    await sleep(SLOW_MS);
    return isRight ? { body: {}, headers: { 'set-cookie': accounts.begin(username) } } : { status: 401 };
  },
};

/** Pages on which a login ends in another way than success or a wrong password; each with the error it must be. */
export const FAILURE_SITES: readonly { kind: SiteKind; error: string; attempts: number }[] = [
  {
    kind: buildPage('no-form', () => '<h1>Welcome</h1><p>There is nothing to sign in to.</p>'),
    error: 'login_form_not_found',
    attempts: 0,
  },
  {
    kind: buildPage(
      'newsletter',
      () =>
        '<h2>Newsletter</h2><form method="post"><input type="email" name="email" placeholder="Your e-mail"><button>Subscribe</button></form>',
    ),
    error: 'login_form_not_found',
    attempts: 0,
  },
  {
    kind: buildPage(
      'two-forms',
      (visit) =>
        `<h2>Customers</h2>${form(visit)}<hr><h2>Partners</h2>${form({ ...visit, base: `${visit.base}/partners` })}`,
    ),
    error: 'ambiguous_form',
    attempts: 0,
  },
  {
    kind: buildPage('captcha', (visit) =>
      form(
        visit,
        '<div class="g-recaptcha" data-sitekey="x" style="width:304px;height:78px;background:#eee">I am not a robot<iframe title="reCAPTCHA" src="about:blank" width="300" height="74"></iframe></div>',
      ),
    ),
    error: 'captcha_required',
    attempts: 0,
  },
  {
    kind: buildPage('locked', form, (visit) => ({
      body: page('Locked', form(visit, '', alert('Your account has been locked. Please contact your administrator.'))),
    })),
    error: 'account_locked',
    attempts: 1,
  },
  {
    kind: buildPage('limited', form, (visit) => ({
      status: 429,
      body: page('Slow down', form(visit, '', alert('Too many login attempts. Please try again later.'))),
    })),
    error: 'rate_limited',
    attempts: 1,
  },
  {
    kind: buildPage('breaks', form, () => ({
      status: 500,
      headers: { 'set-cookie': 'sid=made-before-it-broke; Path=/' },
      body: page('Error', '<h1>Internal Server Error</h1>'),
    })),
    error: 'site_unreachable',
    attempts: 1,
  },
  {
    // The browser shows a page of its own then, without any form.
    kind: buildPage('hangs-up', form, () => ({ breaks: true })),
    error: 'site_unreachable',
    attempts: 1,
  },
  {
    kind: buildPage('other-site', (visit) =>
      form(visit).replace(/action="[^"]*"/, 'action="https://collector.example.org/take"'),
    ),
    error: 'unsafe_domain',
    attempts: 0,
  },
  {
    kind: buildPage('broken', () => '<h1>500</h1>', undefined),
    error: 'login_form_not_found',
    attempts: 0,
  },
];

export const SIGNUP_SITE: SiteKind = signup;
