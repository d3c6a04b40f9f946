import { page, serveAccount } from './server.ts';
import type { Reply, SiteKind, Visit } from './server.ts';

type Behaviour = {
  /** status of an answer to wrong credentials */
  refused: number;
  refusal: object;
  /** the page's reaction to the response */
  onAnswer: string;
};

/** Draws a form and sends it by script. `root` is where the form goes: the document, or a shadow root. */
function buildScript(
  visit: Visit,
  { root, markup, onAnswer }: { root: string; markup: string; onAnswer: string },
): string {
  return `<div id="app"></div><script>
    const root = ${root};
    root.innerHTML = ${JSON.stringify(markup)};
    const find = (id) => root.querySelector('#' + id);
    const show = (text) => { find('message').textContent = text; find('message').className = 'error'; };
    const go = async () => {
      find('go').disabled = true;
      const answer = await fetch('${visit.base}/session', { method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: find('user').value, password: find('pass').value }) });
      const body = await answer.json();
      find('go').disabled = false;
      ${onAnswer}
    };
    find('go').addEventListener('click', (event) => { event.preventDefault(); go(); });
  </script>`;
}

const FORM = `<h1>Sign in</h1><form><label>E-mail <input id="user" type="text" autocomplete="username"></label><br>
  <label>Password <input id="pass" type="password"></label><br><div id="message" role="alert"></div><button id="go">Sign in</button></form>`;
const FORMLESS = `<h2>Login</h2><div>User <input id="user" type="text" placeholder="Username"></div>
  <div>Password <input id="pass" type="password" placeholder="Password"></div><div id="message"></div><div id="go" role="button" tabindex="0">Log in</div>`;

const WELCOME = `root.innerHTML = '<h1>Dashboard</h1><p>Hello ' + body.user + '</p><button>Log out</button>';`;
const inPlace: Behaviour = {
  refused: 401,
  refusal: { message: 'Invalid credentials' },
  onAnswer: `if (answer.ok) { history.pushState({}, '', 'dashboard'); ${WELCOME} } else show(body.message);`,
};

function buildScriptSite(
  name: string,
  { refused, refusal, onAnswer }: Behaviour,
  draw: { root: string; markup: string },
  begin: 'cookie' | 'storage' = 'cookie',
): SiteKind {
  return {
    name,
    serve(visit, accounts) {
      if (visit.path === '/session') {
        const { username = '', password = '' } = visit.json;
        if (!accounts.check(username, password)) return { status: refused, body: refusal };
        const cookie = accounts.begin(username);
        if (begin === 'cookie') return { body: { user: username }, headers: { 'set-cookie': cookie } };
        return { body: { user: username, token: cookie.split(/[=;]/)[1] ?? '' } };
      }
      if (visit.path === '/login' || visit.path === '/dashboard') {
        return { body: page('App', buildScript(visit, { ...draw, onAnswer })) };
      }
      const bearer = visit.headers.authorization?.replace(/^Bearer /, '');
      if (visit.path === '/account' && bearer !== undefined && accounts.sessions.has(bearer))
        return { body: 'Protected' };
      return serveAccount(visit, accounts) ?? { status: 404 };
    },
  };
}

/** Signs in by HTTP authentication, and waits for the response: a rejection makes the browser prompt as well. */
const byHeader: SiteKind = {
  name: 'by-header',
  serve(visit, accounts): Reply {
    if (visit.path === '/whoami') {
      const given = Buffer.from(visit.headers.authorization?.replace(/^Basic /, '') ?? '', 'base64').toString();
      const at = given.indexOf(':');
      const username = given.slice(0, at);
      if (accounts.check(username, given.slice(at + 1))) {
        return { body: { user: username }, headers: { 'set-cookie': accounts.begin(username) } };
      }
      return { status: 401, headers: { 'www-authenticate': 'Basic realm="app"' }, body: {} };
    }
    if (visit.path === '/login') {
      return {
        body: page(
          'App',
          `<div id="app"></div><script>
          const root = document.getElementById('app');
          root.innerHTML = ${JSON.stringify(FORM)};
          root.querySelector('form').onsubmit = (event) => {
            event.preventDefault();
            const call = new XMLHttpRequest();
            call.open('GET', '${visit.base}/whoami', false);
            const field = (id) => document.getElementById(id).value;
            call.setRequestHeader('authorization', 'Basic ' + btoa(field('user') + ':' + field('pass')));
            call.send();
            if (call.status === 200) { const body = JSON.parse(call.responseText); ${WELCOME} }
          };</script>`,
        ),
      };
    }
    return serveAccount(visit, accounts) ?? { status: 404 };
  },
};

const light = { root: "document.getElementById('app')", markup: FORM };

/** Sites that a script draws. */
export const SCRIPT_SITES: readonly SiteKind[] = [
  byHeader,
  buildScriptSite('spa', inPlace, light),
  buildScriptSite('formless', inPlace, { ...light, markup: FORMLESS }),
  buildScriptSite('shadow-open', inPlace, {
    root: "document.getElementById('app').attachShadow({ mode: 'open' })",
    markup: FORM,
  }),
  buildScriptSite('shadow-closed', inPlace, {
    root: "document.getElementById('app').attachShadow({ mode: 'closed' })",
    markup: FORM,
  }),
  // Always answers 200; the body has the outcome.
  buildScriptSite(
    'always-200',
    {
      refused: 200,
      refusal: { success: false, message: 'Login failed' },
      onAnswer: `if (body.success !== false) location.href = 'account'; else show(body.message);`,
    },
    light,
  ),
  buildScriptSite(
    'alert',
    {
      refused: 200,
      refusal: { success: false },
      onAnswer: `if (body.success !== false) location.href = 'account'; else alert('Wrong user name or password!');`,
    },
    light,
  ),
  // Stores its token outside of cookies.
  buildScriptSite(
    'token',
    {
      ...inPlace,
      onAnswer: `if (answer.ok) { localStorage.setItem('token', body.token); ${WELCOME} } else show(body.message);`,
    },
    light,
    'storage',
  ),
];
