import { page } from './server.ts';
import type { Accounts, Reply, Visit } from './server.ts';
import { enter, form, html } from './strangers.ts';
import type { Stranger } from './strangers.ts';

type Words = { code: string; signIn: string; email: string; password: string; hello: (user: string) => string };
type User = string | undefined;

/** What a header says to strangers and to members. */
const LANGUAGES: readonly Words[] = [
  { code: 'en', signIn: 'Log in', email: 'Email', password: 'Password', hello: (user) => `Hello, ${user}` },
  { code: 'de', signIn: 'Anmelden', email: 'E-Mail', password: 'Passwort', hello: () => 'Ada Lovelace' },
  { code: 'fr', signIn: 'Se connecter', email: 'E-mail', password: 'Mot de passe', hello: () => 'Mon compte' },
  { code: 'es', signIn: 'Iniciar sesión', email: 'Correo', password: 'Contraseña', hello: (user) => `Hola, ${user}` },
  { code: 'ja', signIn: 'ログイン', email: 'メールアドレス', password: 'パスワード', hello: () => 'マイページ' },
];

const SEND = `const send = (username, password) => fetch('login', { method: 'POST',
  headers: { 'content-type': 'application/json' }, body: JSON.stringify({ username, password }) }).then((r) => r.json());`;
const begin = (_visit: Visit, accounts: Accounts, user: string): Reply => ({
  body: { done: 1 },
  headers: { 'set-cookie': accounts.begin(user) },
});
const refuse = (): Reply => ({ body: { done: 0 } });
const articles =
  '<main><h1>The Harbour Gazette</h1><p>New: the lighthouse opens on Sundays.</p><p>Tides: 4.10 m.</p></main>';
const shop = '<main><h1>Bicycles</h1><ul><li>Gravel</li><li>Cargo</li></ul></main>';
const inputs = ({ email, password }: Words) =>
  `<label>${email} <input id="u" name="username"></label><label>${password} <input id="p" type="password" name="password"></label>`;

/** A public page whose login form opens in a dialog; after the login only the header differs. */
const buildDialog = (words: Words): Stranger => ({
  name: `modal-dialog-${words.code}`,
  entry: '/',
  right: (visit, accounts, user) => ({ ...begin(visit, accounts, user), body: { done: 1, shown: words.hello(user) } }),
  wrong: refuse,
  pages: {
    '/': (_visit, _accounts, user) =>
      html(`<header><a href="./">Gazette</a> <span id="bar">${
        user === undefined ? `<button id="open">${words.signIn}</button>` : `<button>${words.hello(user)}</button>`
      }</span></header>${articles}
        <dialog id="d"><form id="f">${inputs(words)}<button>${words.signIn}</button><p id="n"></p></form></dialog>
        <script>${SEND} const $ = (id) => document.getElementById(id);
        if ($('open')) $('open').onclick = () => $('d').showModal();
        $('f').onsubmit = async (event) => { event.preventDefault();
          const { done, shown } = await send($('u').value, $('p').value);
          if (!done) { $('p').value = ''; return void ($('n').textContent = '✗'); }
          $('d').close(); $('bar').innerHTML = '<button></button>'; $('bar').firstChild.textContent = shown }</script>`),
  },
});

/** The page after the login is shown to guests as well. */
const buildGuests = (words: Words): Stranger => ({
  name: `guests-are-welcome-${words.code}`,
  right: (visit, accounts, user) => enter(visit, accounts, user, '/'),
  wrong: ({ base }) => ({ to: `${base}/` }),
  pages: {
    '/': ({ base }, _accounts, user) =>
      html(
        `<header><a href="${base}/">Gazette</a> ${
          user === undefined
            ? `<a href="${base}/login">${words.signIn}</a>`
            : `<a href="${base}/me">${words.hello(user)}</a>`
        }</header>${articles}`,
      ),
    '/login': ({ base }) =>
      html(
        `<h1>${words.signIn}</h1><form method="post" action="${base}/login">${inputs(words)}<button>${words.signIn}</button></form>`,
      ),
  },
});

/** A header of a shop by who looks at it. */
const bar = ({ base }: Visit, user: User, member: string) =>
  `<header><a href="${base}/">Shop</a> ${user === undefined ? `<a href="${base}/login">Sign in</a>` : member}</header>${shop}`;
const publicHome =
  (member: (visit: Visit, user: string) => string) =>
  (visit: Visit, _accounts: Accounts, user: User): Reply =>
    html(bar(visit, user, user === undefined ? '' : member(visit, user)));

const token = (accounts: Accounts, user: string) => /sid=([^;]+)/.exec(accounts.begin(user))?.[1] ?? '';

export const MORE_PAGE_SHAPES: readonly Stranger[] = [
  ...LANGUAGES.map(buildDialog),
  ...LANGUAGES.map(buildGuests),
  {
    name: 'greeting-without-a-link',
    right: (visit, accounts, user) => enter(visit, accounts, user, '/'),
    wrong: ({ base }) => ({ to: `${base}/` }),
    pages: { '/': publicHome((_visit, user) => `<span>Hi ${user}!</span>`) },
  },
  {
    name: 'name-in-the-bar',
    right: (visit, accounts, user) => enter(visit, accounts, user, '/'),
    wrong: ({ base }) => ({ to: `${base}/`, headers: { 'set-cookie': 'visitor=0123456789abcdef; Path=/' } }),
    pages: { '/': publicHome(({ base }) => `<a href="${base}/u/7"><img alt="" width="24" height="24"> Ada L.</a>`) },
  },
  {
    name: 'header-drawn-by-a-call',
    right: (visit, accounts, user) => enter(visit, accounts, user, '/'),
    wrong: ({ base }) => ({ to: `${base}/` }),
    pages: {
      '/whoami': (_visit, _accounts, user) => ({ body: { name: user ?? null } }),
      '/': ({ base }) =>
        html(`<header><a href="${base}/">Shop</a> <span id="b"></span></header>${shop}<script>
          fetch('whoami').then((r) => r.json()).then(({ name }) => { document.getElementById('b').innerHTML =
            name ? '<button>Ada Lovelace</button>' : '<a href="${base}/login">Sign in</a>' })</script>`),
    },
  },
  {
    name: 'form-in-the-header',
    entry: '/',
    right: (visit, accounts, user) => enter(visit, accounts, user, '/'),
    wrong: ({ base }) => ({ to: `${base}/` }),
    pages: {
      '/': ({ base }, _accounts, user) =>
        html(
          `<header>${
            user === undefined
              ? `<form method="post" action="${base}/login"><input name="username" placeholder="Email"><input type="password" name="password" placeholder="Password"><button>Go</button></form>`
              : '<b>Ada L.</b>'
          }</header>${shop}`,
        ),
    },
  },
  {
    name: 'fields-without-names',
    right: begin,
    wrong: refuse,
    pages: {
      '/login': (_visit, _accounts, user) =>
        user === undefined
          ? html(`<div><input placeholder="Email"><input type="password" placeholder="Password"><button type="button">Log in</button><i></i></div>
          <script>${SEND} const [u, p] = document.querySelectorAll('input');
          document.querySelector('button').onclick = async () => { const { done } = await send(u.value, p.value);
            if (done) location.reload(); else document.querySelector('i').textContent = 'Not right.' }</script>`)
          : html(shop),
    },
  },
  {
    name: 'cookie-set-by-a-script',
    right: (_visit, accounts, user) => ({ body: { sid: token(accounts, user) } }),
    wrong: () => ({ body: { sid: null } }),
    pages: {
      '/login': () =>
        html(`<form><input name="username" placeholder="Email"><input type="password" name="password" placeholder="Password"><button>Log in</button></form><p id="n"></p>
        <script>${SEND} const form = document.forms[0]; form.onsubmit = async (event) => { event.preventDefault();
          const { sid } = await send(form.username.value, form.password.value);
          if (!sid) return void (document.getElementById('n').textContent = 'Try once more.');
          document.cookie = 'sid=' + sid + '; path=/'; location.href = 'account' }</script>`),
    },
  },
  {
    name: 'lazy-member-area',
    right: (visit, accounts, user) => enter(visit, accounts, user, '/app'),
    wrong: ({ base }) => ({ to: `${base}/app` }),
    pages: {
      '/data': (_visit, _accounts, user) =>
        user === undefined ? { status: 401, body: { message: 'no' } } : { body: { items: ['Apollo', 'Gemini'] } },
      '/app': ({ base }) =>
        html(`<div id="a" class="skeleton">…</div><script>setTimeout(async () => { const r = await fetch('data');
          if (!r.ok) return void (location.href = '${base}/login');
          document.getElementById('a').textContent = (await r.json()).items.join() }, 1200)</script>`),
    },
  },
  {
    name: 'redirects-in-a-chain',
    right: ({ base }, accounts, user) => ({ to: `${base}/sso/1`, headers: { 'set-cookie': accounts.begin(user) } }),
    wrong: ({ base }) => ({ to: `${base}/sso/1` }),
    pages: {
      '/sso/1': ({ base }) => html(`<script>location.replace('${base}/sso/2')</script>`),
      '/sso/2': ({ base }) =>
        html(
          `<form method="post" action="${base}/sso/3"><input type="hidden" name="SAMLResponse" value="x"></form><script>document.forms[0].submit()</script>`,
        ),
      '/sso/3': ({ base }, _accounts, user) => ({ to: user === undefined ? `${base}/login` : `${base}/account` }),
    },
    posts: {
      '/sso/3': ({ base }, _accounts, user) => ({ to: user === undefined ? `${base}/login` : `${base}/account` }),
    },
  },
  {
    name: 'hash-routes',
    right: begin,
    wrong: refuse,
    entry: '/#/login',
    pages: {
      '/': (_visit, _accounts, user) =>
        html(`<div id="app"></div><script>${SEND} let me = ${JSON.stringify(user ?? null)}; const app = document.getElementById('app');
        const draw = () => { if (me) return void (app.innerHTML = '<p>Apollo, Gemini</p>');
          app.innerHTML = '<form><input id="u" placeholder="Email"><input id="p" type="password" placeholder="Password"><button>Log in</button></form><em></em>';
          app.querySelector('form').onsubmit = async (event) => { event.preventDefault();
            const user = document.getElementById('u').value; const { done } = await send(user, document.getElementById('p').value);
            if (done) { me = user; location.hash = '#/board' } else app.querySelector('em').textContent = 'Hm.' } };
        onhashchange = draw; draw()</script>`),
    },
  },
  {
    name: 'form-in-a-menu',
    entry: '/',
    right: (visit, accounts, user) => enter(visit, accounts, user, '/'),
    wrong: ({ base }) => ({ to: `${base}/` }),
    pages: {
      '/': ({ base }, _accounts, user) =>
        html(
          `<header>${
            user === undefined
              ? `<button id="o">Sign in</button><div id="m" hidden><form method="post" action="${base}/login"><input name="username" placeholder="Email"><input type="password" name="password" placeholder="Password"><button>Sign in</button></form></div>
               <script>document.getElementById('o').onclick = () => { document.getElementById('m').hidden = false }</script>`
              : '<button>Ada Lovelace</button>'
          }</header>${shop}`,
        ),
    },
  },
  {
    name: 'message-from-a-frame',
    right: (_visit, accounts, user) => ({
      body: page('In', `<script>parent.postMessage('in', '*')</script>`),
      headers: { 'set-cookie': accounts.begin(user) },
    }),
    wrong: (visit) => html(form(visit, '<p>Not this time.</p>')),
    entry: '/',
    pages: {
      '/': (_visit, _accounts, user) =>
        html(`<div id="a">${user === undefined ? '<iframe src="login" width="400" height="300"></iframe>' : shop}</div>
          <script>onmessage = () => location.reload()</script>`),
    },
  },
];
