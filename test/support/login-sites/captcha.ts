import { randomToken } from '../../../src/platform/crypto.ts';
import { page, serveAccount } from './server.ts';
import type { SiteKind } from './server.ts';

const passes = new Set<string>();

const form = `<h1>Sign in</h1><form method="post" action="login">
  <label>E-mail <input type="email" name="username"></label>
  <label>Password <input type="password" name="password"></label><button>Sign in</button></form>`;
/** Where the box to click stands, in CSS pixels. */
export const BOX = { x: 300, y: 300 };
const box = `position:absolute;left:${BOX.x - 20}px;top:${BOX.y - 20}px;width:40px;height:40px;border:3px solid #333`;

/** A bot wall in front of the site: a click on the box leads to the form. Clicks by scripts do not count. */
export const WALL_SITE: SiteKind = {
  name: 'click-wall',
  serve(visit, accounts) {
    const route = `${visit.method} ${visit.path}`;
    if (route === 'POST /passed') {
      const token = randomToken(16);
      passes.add(token);
      return { headers: { 'set-cookie': `passed=${token}; Path=/` }, body: {} };
    }
    if (!passes.has(visit.cookies['passed'] ?? '')) {
      return {
        body: page(
          'Just a moment...',
          `<p>Checking your browser before you access the site.</p>
          <div class="cf-turnstile" data-sitekey="x" style="${box}"></div><script>
          document.querySelector('.cf-turnstile').addEventListener('click', async (event) => {
            if (!event.isTrusted) return;
            await fetch('passed', { method: 'POST' });
            location.reload();
          });</script>`,
        ),
      };
    }
    if (route === 'GET /login') return { body: page('Sign in', form) };
    if (route === 'POST /login') {
      const user = visit.form.get('username') ?? '';
      if (accounts.check(user, visit.form.get('password') ?? '')) {
        return { to: `${visit.base}/account`, headers: { 'set-cookie': accounts.begin(user) } };
      }
      return { body: page('Sign in', `<p class="error">Wrong user name or password.</p>${form}`) };
    }
    return serveAccount(visit, accounts) ?? { status: 404 };
  },
};

const CHECK = `<body style='height:100vh;margin:0'><script>addEventListener('click', (event) => {
  if (event.isTrusted) parent.document.querySelector('[name=g-recaptcha-response]').value = 'human'; });</script>`;

/** A check inside the form, as vendors draw it: the click fills the proof field. */
export const CHECK_SITE: SiteKind = {
  name: 'check-in-form',
  serve(visit, accounts) {
    const route = `${visit.method} ${visit.path}`;
    const checked = `<h1>Sign in</h1><form method="post" action="login">
      <label>E-mail <input type="email" name="username"></label>
      <label>Password <input type="password" name="password"></label>
      <iframe title="reCAPTCHA" style="${box}" srcdoc="${CHECK}"></iframe>
      <input type="hidden" name="g-recaptcha-response"><button>Sign in</button></form>`;
    if (route === 'GET /login') return { body: page('Sign in', checked) };
    if (route === 'POST /login') {
      const user = visit.form.get('username') ?? '';
      const isHuman = visit.form.get('g-recaptcha-response') === 'human';
      if (isHuman && accounts.check(user, visit.form.get('password') ?? '')) {
        return { to: `${visit.base}/account`, headers: { 'set-cookie': accounts.begin(user) } };
      }
      return { body: page('Sign in', `<p class="error">Wrong user name or password.</p>${checked}`) };
    }
    return serveAccount(visit, accounts) ?? { status: 404 };
  },
};

/** A page without a plan: a question for the owner of the account, with a text field. */
export const QUESTION_SITE: SiteKind = {
  name: 'question',
  serve(visit, accounts) {
    const route = `${visit.method} ${visit.path}`;
    if (route === 'GET /login') return { body: page('Sign in', form) };
    if (route === 'POST /login') {
      const user = visit.form.get('username') ?? '';
      if (!accounts.check(user, visit.form.get('password') ?? '')) {
        return { body: page('Sign in', `<p class="error">Wrong user name or password.</p>${form}`) };
      }
      return { to: `${visit.base}/question` };
    }
    if (route === 'POST /question' && visit.form.get('color') === 'Vermilion-7') {
      return { to: `${visit.base}/account`, headers: { 'set-cookie': accounts.begin('ada@example.com') } };
    }
    if (visit.path === '/question') {
      return {
        body: page(
          'One more thing',
          `<p>Which color did you name?</p><form method="post">
          <input name="color" aria-label="Color" style="${box};width:300px"></form>`,
        ),
      };
    }
    return serveAccount(visit, accounts) ?? { status: 404 };
  },
};
