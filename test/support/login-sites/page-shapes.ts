import { page } from './server.ts';
import type { Accounts, Reply, Visit } from './server.ts';
import { enter, form, html } from './strangers.ts';
import type { Stranger } from './strangers.ts';

type Page = (visit: Visit, accounts: Accounts, user: string | undefined) => Reply;

/** A page that strangers see at `/login`, and what members see there. */
const either =
  (stranger: (visit: Visit) => string, member = '<h2>Projects</h2><p>Apollo, Gemini</p>'): Page =>
  (visit, _accounts, user) =>
    html(user === undefined ? stranger(visit) : member);
const inside = (_visit: Visit, accounts: Accounts, user: string): Reply => ({
  body: { done: 1 },
  headers: { 'set-cookie': accounts.begin(user) },
});
/** An answer that reports nothing by its status or by a known field. */
const outside = (): Reply => ({ body: { done: 0 } });

/** Runs in pages: sends user name and password as JSON. */
const SEND = `const send = (username, password) => fetch('login', { method: 'POST',
  headers: { 'content-type': 'application/json' }, body: JSON.stringify({ username, password }) }).then((r) => r.json());`;

const fields = `<input placeholder="Email" id="u"><input placeholder="Password" type="password" id="p">`;
const values = `document.getElementById('u').value, document.getElementById('p').value`;
const loading = (script: string) => html(`<p>One moment…</p><script>${script}</script>`);
const later = (ms: number, path: string) => `setTimeout(() => { location.href = '${path}' }, ${ms})`;
const filler = Array.from({ length: 25 }, (_none, at) => `<p>Article ${at}: things that happened.</p>`).join('');

const inFrame = (error = '') =>
  html(`${error}<form method="post" action="login"><label>Email <input name="username"></label>
    <label>Password <input type="password" name="password"></label><button>Log in</button></form>`);

/** Sites whose login has an unusual shape. All answer the right and the wrong password with status 200 or 303. */
export const PAGE_SHAPES: readonly Stranger[] = [
  {
    name: 'spa-without-navigation',
    right: inside,
    wrong: outside,
    pages: {
      '/login': either(
        () => `<div id="app"></div><script>${SEND}
        const app = document.getElementById('app');
        const draw = (note) => { app.innerHTML = '<h1>Welcome</h1><div>${fields}<button type="button" id="b">Enter</button></div><footer>' + note + '</footer>';
          document.getElementById('b').onclick = async () => { const user = document.getElementById('u').value;
            const { done } = await send(user, document.getElementById('p').value);
            if (done) app.innerHTML = '<h2>Projects</h2><p>Apollo, Gemini</p>'; else draw('That did not work.'); } };
        draw('')</script>`,
      ),
    },
  },
  {
    name: 'form-in-a-frame',
    right: (visit, accounts, user) => ({
      body: page('In', `<script>top.location.href = '${visit.base}/account'</script>`),
      headers: { 'set-cookie': accounts.begin(user) },
    }),
    wrong: () => inFrame('<p>Sorry, we could not log you in.</p>'),
    pages: {
      '/login': () => html('<h1>Members</h1><iframe src="frame" width="400" height="300"></iframe>'),
      '/frame': () => inFrame(),
    },
  },
  {
    name: 'shadow-roots',
    right: inside,
    wrong: outside,
    pages: {
      '/login': either(
        () => `<h1>Portal</h1><x-login></x-login><script>${SEND}
        customElements.define('x-input', class extends HTMLElement { connectedCallback() {
          this.attachShadow({ mode: 'open' }).innerHTML = '<label>' + this.title + '<input type="' + this.dataset.type + '"></label>'; }
          get value() { return this.shadowRoot.querySelector('input').value } });
        customElements.define('x-login', class extends HTMLElement { connectedCallback() {
          const root = this.attachShadow({ mode: 'open' });
          root.innerHTML = '<x-input title="Email" data-type="email"></x-input><x-input title="Password" data-type="password"></x-input><button>Sign in</button><p></p>';
          root.querySelector('button').onclick = async () => {
            const [user, word] = [...root.querySelectorAll('x-input')].map((each) => each.value);
            const { done } = await send(user, word);
            if (done) location.href = 'account'; else root.querySelector('p').textContent = 'Those details are not right.'; } } })</script>`,
      ),
    },
  },
  {
    name: 'two-steps-that-slide',
    right: (visit, accounts, user) => enter(visit, accounts, user),
    wrong: (visit) => ({ to: `${visit.base}/login?again` }),
    pages: {
      '/login': (visit) =>
        html(`<style>#w{width:300px;overflow:hidden}#s{display:flex;width:600px;transition:transform .7s}#s>div{width:300px}</style>
        <h1>Sign in</h1>${visit.query.has('again') ? '<p>Check what you typed.</p>' : ''}<div id="w"><form id="s" method="post" action="login">
        <div id="one"><label>Email <input name="username"></label><button type="button" id="n">Next</button></div>
        <div id="two" inert><label>Password <input type="password" name="password"></label><button>Sign in</button></div></form></div>
        <script>document.getElementById('n').onclick = () => { const s = document.getElementById('s'); s.style.transform = 'translateX(-300px)';
          document.getElementById('one').inert = true; s.ontransitionend = () => { document.getElementById('two').inert = false } }</script>`),
    },
  },
  {
    name: 'checks-while-typing',
    right: (visit, accounts, user) => ({
      body: '',
      headers: { 'hx-redirect': `${visit.base}/account`, 'set-cookie': accounts.begin(user) },
    }),
    wrong: () => ({ body: '<small>We could not match that email and password.</small>' }),
    pages: {
      '/check': () => ({ body: '<small>Looks good.</small>' }),
      '/login': () =>
        html(`<h1>Sign in</h1><form id="f"><label>Email <input name="username"></label><span id="c"></span>
        <label>Password <input type="password" name="password"></label><button>Sign in</button><span id="r"></span></form>
        <script>const f = document.getElementById('f'), swap = (id, text) => { document.getElementById(id).innerHTML = text };
        for (const each of f.querySelectorAll('input')) each.onchange = async () => swap('c', await (await fetch('check?q=' + each.name)).text());
        f.onsubmit = async (event) => { event.preventDefault();
          const answer = await fetch('login', { method: 'POST', body: new URLSearchParams(new FormData(f)) });
          const to = answer.headers.get('hx-redirect'); if (to) location.href = to; else swap('r', await answer.text()) }</script>`),
    },
  },
  {
    name: 'meta-refresh',
    right: (visit, accounts, user) => ({
      body: page('Wait', '<p>One moment…</p>', `<meta http-equiv="refresh" content="2;url=${visit.base}/account">`),
      headers: { 'set-cookie': accounts.begin(user) },
    }),
    wrong: ({ base }) => ({
      body: page('Wait', '<p>One moment…</p>', `<meta http-equiv="refresh" content="2;url=${base}/login">`),
      headers: { 'set-cookie': 'flash=1; Path=/' },
    }),
  },
  {
    name: 'cookie-of-a-later-call',
    told: 'login_unproven',
    right: (_visit, accounts, user) => {
      const cookie = accounts.begin(user).split(';')[0] ?? '';
      return loading(
        `setTimeout(async () => { await fetch('begin?${cookie}'); document.body.innerHTML = '<h2>Projects</h2><p>Apollo, Gemini</p>' }, 1500)`,
      );
    },
    wrong: () =>
      loading(
        `setTimeout(async () => { await fetch('begin'); document.body.innerHTML = '<p>We could not open your workspace.</p>' }, 1500)`,
      ),
    pages: {
      '/begin': ({ query }) => {
        const sid = query.get('sid');
        return { body: {}, ...(sid !== null && { headers: { 'set-cookie': `sid=${sid}; Path=/; HttpOnly` } }) };
      },
      '/login': either((visit) => form(visit)),
    },
  },
  {
    name: 'error-far-away',
    right: (_visit, accounts, user) => ({
      ...html('<h2>Projects</h2><p>Apollo, Gemini</p>'),
      headers: { 'set-cookie': accounts.begin(user) },
    }),
    wrong: (visit) => html(`${form(visit)}${filler}<div>Your details did not match our records.</div>`),
    pages: { '/login': either((visit) => `${form(visit)}${filler}`) },
  },
  {
    name: 'script-redirect-after-two-seconds',
    right: (_visit, accounts, user) => ({
      ...loading(later(2000, 'account')),
      headers: { 'set-cookie': accounts.begin(user) },
    }),
    wrong: () => ({ ...loading(later(2000, 'login')), headers: { 'set-cookie': 'tried=1; Path=/; HttpOnly' } }),
  },
  {
    name: 'skeleton-before-the-answer',
    right: inside,
    wrong: outside,
    pages: {
      '/login': either(
        () => `<div id="app"></div><script>${SEND}
        const app = document.getElementById('app');
        const draw = (note) => { app.innerHTML = '<h1>Log in</h1><form>${fields}<button>Log in</button></form>' + note;
          app.querySelector('form').onsubmit = (event) => { event.preventDefault(); const pair = [${values}];
            app.innerHTML = '<nav>Home Projects Team</nav><div class="skeleton">Loading…</div>';
            setTimeout(async () => { const { done } = await send(...pair);
              if (done) app.innerHTML = '<nav>Home Projects Team</nav><p>Apollo, Gemini</p>'; else draw('') }, 2500) } };
        draw('')</script>`,
        '<nav>Home Projects Team</nav><p>Apollo, Gemini</p>',
      ),
    },
  },
  {
    name: 'note-that-vanishes',
    right: inside,
    wrong: outside,
    pages: {
      '/login': either(
        () => `<div id="app"></div><script>${SEND}
        const app = document.getElementById('app');
        const draw = () => { if (location.hash === '#/home') return void (app.innerHTML = '<p>Apollo, Gemini</p>');
          app.innerHTML = '<h1>Log in</h1><form>${fields}<button>Log in</button></form><div id="s"></div>';
          app.querySelector('form').onsubmit = async (event) => { event.preventDefault(); const { done } = await send(${values});
            if (done) { location.hash = '#/home'; return draw() }
            const s = document.getElementById('s'); s.textContent = 'Nope'; setTimeout(() => { s.textContent = '' }, 300) } };
        draw()</script>`,
        '<p>Apollo, Gemini</p>',
      ),
    },
  },
  {
    name: 'session-is-over',
    right: (visit, accounts, user) => enter(visit, accounts, user),
    wrong: ({ base }) => ({ to: `${base}/over`, headers: { 'set-cookie': 'sess=0a1b2c3d4e5f6071; Path=/; HttpOnly' } }),
    pages: { '/over': () => html('<h1>Your session is over</h1><p>Please <a href="login">log in</a> once more.</p>') },
  },
];
