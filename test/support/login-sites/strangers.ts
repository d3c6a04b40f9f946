import { randomToken } from '../../../src/platform/crypto.ts';
import { page } from './server.ts';
import type { Accounts, Reply, SiteKind, Visit } from './server.ts';

/** A site that shows its form at `/login`, and answers it as told. */
export type Stranger = {
  name: string;
  /** the page to begin on; default `/login` */
  entry?: string;
  /** what the page of the form holds beside it */
  beside?: string;
  right: (visit: Visit, accounts: Accounts, user: string) => Reply | Promise<Reply>;
  wrong: (visit: Visit, accounts: Accounts) => Reply;
  /** what a wrong password is told as; default `invalid_credentials` */
  told?: string;
  /** further pages; `user`: whose session the visit carries */
  pages?: Record<string, (visit: Visit, accounts: Accounts, user: string | undefined) => Reply>;
  /** answers to forms other than the login's */
  posts?: Stranger['pages'];
  /** a cookie that every page sets where the visit has none */
  greets?: boolean;
};

export const form = (
  { base }: Visit,
  shown = '',
) => `<h1>Sign in</h1>${shown}<form method="post" action="${base}/login">
  <label>E-mail <input type="email" name="username"></label><label>Password <input type="password" name="password"></label>
  <button>Sign in</button></form>`;

const GREETING = /(?:^|; )hello=/;

export function buildStranger(stranger: Stranger): SiteKind {
  const { name, entry, beside = '', right, wrong, pages = {}, posts = {}, greets = false } = stranger;
  const serve = async (visit: Visit, accounts: Accounts): Promise<Reply> => {
    const user = accounts.who(visit);
    const own = (visit.method === 'GET' ? pages : posts)[visit.path];
    if (own !== undefined) return own(visit, accounts, user);
    if (visit.path === '/login' && visit.method === 'POST') {
      const given = visit.form.get('username') ?? visit.json['username'] ?? '';
      const isRight = accounts.check(given, visit.form.get('password') ?? visit.json['password'] ?? '');
      return isRight ? right(visit, accounts, given) : wrong(visit, accounts);
    }
    if (visit.path === '/login') return { body: page('Sign in', `${form(visit)}${beside}`) };
    if (visit.path === '/account') {
      if (user === undefined) return { to: `${visit.base}/login` };
      return { body: page('Account', `<h1>Protected</h1><p>Of ${user}</p>`) };
    }
    return { status: 404, body: page('Not found', '<p>Nothing here.</p>') };
  };
  return {
    name,
    ...(entry !== undefined && { entry }),
    async serve(visit, accounts) {
      const reply = await serve(visit, accounts);
      if (!greets || GREETING.test(visit.headers.cookie ?? '')) return reply;
      return { ...reply, headers: { 'set-cookie': `hello=${randomToken(12)}; Path=/`, ...reply.headers } };
    },
  };
}

export const html = (body: string, title = 'Example') => ({ body: page(title, body) });
export const enter = (visit: Visit, accounts: Accounts, user: string, path = '/account'): Reply => ({
  to: visit.base + path,
  headers: { 'set-cookie': accounts.begin(user) },
});
const say = (text: string) => (visit: Visit) => html(form(visit, `<p>${text}</p>`));
const fresh = () => ({ 'set-cookie': `v=${randomToken(16)}; Path=/; HttpOnly` });
const home = '<h1>Shop</h1><p>New this week: shoes.</p>';

/** Whose answer to the right password is a session, and to the wrong one `invalid_credentials`. */
export const OPEN_AND_SHUT: readonly Stranger[] = [
  { name: 'bare-401', right: enter, wrong: () => ({ status: 401, body: '' }) },
  {
    name: 'same-page',
    right: (visit, accounts, user) => enter(visit, accounts, user, '/'),
    wrong: ({ base }) => ({ to: `${base}/?error=1` }),
    pages: {
      '/': (visit, _accounts, user) =>
        user === undefined ? html(form(visit), 'Portal') : html('<h1>Inbox</h1><p>Two messages.</p>', 'Portal'),
    },
  },
  {
    name: 'error-in-address',
    right: enter,
    wrong: ({ base }) => ({ to: `${base}/?error=1` }),
    pages: { '/': () => html(`${home}<a href="cart">Cart</a>`) },
  },
  {
    name: 'account-link-for-all',
    told: 'login_unproven',
    greets: true,
    right: enter,
    wrong: ({ base }) => ({ to: `${base}/`, headers: fresh() }),
    pages: { '/': () => html(`<a class="user-menu" href="account">My account</a>${home}`) },
  },
  {
    name: 'logout-link-for-all',
    told: 'login_unproven',
    right: enter,
    wrong: ({ base }) => ({ to: `${base}/start`, headers: fresh() }),
    pages: { '/start': () => html(`${home}<a href="logout">Log out</a>`) },
  },
  {
    name: 'asks-for-cookies',
    told: 'login_unproven',
    right: enter,
    wrong: ({ base }) => ({ to: `${base}/start`, headers: fresh() }),
    pages: {
      '/start': (visit) => (visit.cookies['v'] === undefined ? { to: `${visit.base}/cookies` } : html(home)),
      '/cookies': ({ base }) => ({ to: `${base}/start`, headers: fresh() }),
    },
  },
  {
    name: 'retry-page',
    told: 'login_unproven',
    right: enter,
    wrong: ({ base }) => ({ to: `${base}/hm`, headers: { 'set-cookie': 'tried=1; Path=/; HttpOnly' } }),
    pages: {
      '/hm': () => html('<h1>Hm.</h1><p>Give it another go.</p><a href="login">Back</a>'),
      '/login': (visit) =>
        visit.cookies['tried'] === '1' && visit.query.get('again') === null
          ? { to: `${visit.base}/login?again=1` }
          : html(form(visit)),
    },
  },
  {
    name: 'hidden-form',
    beside: `<div id="in" hidden><h2>Your projects</h2><p>Apollo, Gemini</p></div><div id="out"></div><script>
      const form = document.querySelector('form'); form.addEventListener('submit', async (event) => { event.preventDefault();
      const answer = await fetch('login', { method: 'POST', body: new URLSearchParams(new FormData(form)) });
      if (answer.status === 204) { form.hidden = true; document.getElementById('in').hidden = false; }
      else document.getElementById('out').textContent = 'Ungültig'; })</script>`,
    right: (_visit, accounts, user) => ({ status: 204, headers: { 'set-cookie': accounts.begin(user) } }),
    wrong: () => ({ status: 200, body: { ok: 0 } }),
    pages: {
      '/login': (visit, _accounts, user) =>
        user === undefined
          ? html(`${form(visit)}${OPEN_AND_SHUT.find(({ name }) => name === 'hidden-form')?.beside ?? ''}`)
          : html('<h2>Your projects</h2><p>Apollo, Gemini</p>'),
    },
  },
  {
    name: 'toast',
    beside: `<script>const form = document.querySelector('form'); form.addEventListener('submit', async (event) => { event.preventDefault();
      const answer = await fetch('login', { method: 'POST', body: new URLSearchParams(new FormData(form)) });
      const { code } = await answer.json(); if (code === 0) return void (location.href = 'account');
      const toast = document.createElement('div'); toast.textContent = 'Wrong e-mail or password'; document.body.append(toast);
      setTimeout(() => toast.remove(), 500); })</script>`,
    right: (_visit, accounts, user) => ({ body: { code: 0 }, headers: { 'set-cookie': accounts.begin(user) } }),
    wrong: () => ({ body: { code: 10_001 } }),
  },
  {
    name: 'token',
    beside: `<script>const draw = async () => { const token = localStorage.getItem('token'); if (!token) return;
      const answer = await fetch('me', { headers: { authorization: 'Bearer ' + token } }); if (!answer.ok) return localStorage.clear();
      document.body.innerHTML = '<h1>Board</h1><ul><li>Write</li><li>Read</li></ul>'; }; draw();
      const form = document.querySelector('form'); form.addEventListener('submit', async (event) => { event.preventDefault();
      const answer = await fetch('login', { method: 'POST', body: JSON.stringify(Object.fromEntries(new FormData(form))),
        headers: { 'content-type': 'application/json' } });
      const { token } = await answer.json(); if (token) { localStorage.setItem('token', token); draw(); } else form.reset(); })</script>`,
    right: (_visit, accounts, user) => ({ body: { token: /sid=([^;]+)/.exec(accounts.begin(user))?.[1] ?? '' } }),
    wrong: () => ({ body: { token: null } }),
    pages: {
      '/me': ({ headers }, accounts) => {
        const name = accounts.sessions.get((headers.authorization ?? '').replace('Bearer ', ''));
        return name === undefined ? { status: 401, body: { message: 'no' } } : { body: { name } };
      },
    },
  },
  {
    name: 'cookie-before',
    greets: true,
    right: (visit, accounts, user) => {
      accounts.sessions.set(`hello ${visit.cookies['hello']}`, user);
      return { to: `${visit.base}/desk` };
    },
    wrong: say('Not quite. Please check both fields.'),
    pages: {
      '/desk': (visit, accounts) =>
        accounts.sessions.has(`hello ${visit.cookies['hello']}`)
          ? html('<h1>Desk</h1><p>Three tickets.</p>')
          : { to: `${visit.base}/login` },
    },
  },
  {
    name: 'wrong-to-register',
    right: enter,
    wrong: ({ base }) => ({ to: `${base}/join` }),
    pages: {
      '/join': () =>
        html(`<h1>Create your account</h1><form method="post"><input name="name" placeholder="Full name"><input type="email" name="mail" placeholder="E-mail">
          <input type="password" name="p1" placeholder="Choose a password"><input type="password" name="p2" placeholder="Repeat password"><button>Register</button></form>`),
    },
  },
  {
    name: 'wrong-to-recovery',
    told: 'login_unproven',
    right: enter,
    wrong: ({ base }) => ({ to: `${base}/recover` }),
    pages: {
      '/recover': () =>
        html(
          '<h1>Forgot your password?</h1><form method="post"><input type="email" name="mail" placeholder="E-mail"><button>Reset password</button></form>',
        ),
    },
  },
  {
    name: 'attempts-left',
    right: enter,
    wrong: say('Incorrect password. You have 2 attempts left before your account is locked.'),
  },
  {
    name: 'no-words',
    right: enter,
    wrong: (visit) => html(form(visit)),
  },
  {
    name: 'refresh-back',
    right: enter,
    wrong: ({ base }) => html(`<meta http-equiv="refresh" content="2;url=${base}/login"><p>…</p>`),
  },
  {
    name: 'slow-redirect',
    right: (visit, accounts, user) => ({
      ...html(
        `<meta http-equiv="refresh" content="2;url=${visit.base}/account"><p>Login successful. You are being redirected.</p>`,
      ),
      headers: { 'set-cookie': accounts.begin(user) },
    }),
    wrong: () => ({ status: 403, body: 'Forbidden' }),
  },
  {
    name: 'busy-dashboard',
    right: (visit, accounts, user) => enter(visit, accounts, user, '/board'),
    wrong: say('Nope.'),
    pages: {
      '/board': (visit, _accounts, user) =>
        user === undefined
          ? { to: `${visit.base}/login` }
          : html(`<div class="alert alert-danger">2 builds failed</div><div class="warning">Payment failed: invalid card</div>
            <h1>Builds</h1><table><tr><td>main</td><td class="error">failed</td><td>Ada changed the colour of the start page</td></tr>
            <tr><td>dark-mode</td><td>passed</td><td>Grace added a switch for the evening to the settings</td></tr>
            <tr><td>search</td><td>passed</td><td>Edsger made the search find what nobody was looking for</td></tr></table>`),
    },
  },
  {
    name: 'guest',
    right: enter,
    told: 'login_unproven',
    wrong: ({ base }) => ({ to: `${base}/hello`, headers: fresh() }),
    pages: { '/hello': () => html('<h1>Welcome, guest</h1><p>Look around.</p><button>Menu</button>') },
  },
];
