import { page, serveAccount } from './server.ts';
import type { Reply, SiteKind, Visit } from './server.ts';

const error = (text: string) => `<p class="error" role="alert">${text}</p>`;

type Look = { shown?: string; username?: string };

/** A site with one form that the server answers; `render` draws the form. */
function buildFormSite(
  name: string,
  render: (visit: Visit, look: Look) => string,
  more: Partial<SiteKind> = {},
): SiteKind {
  return {
    name,
    serve(visit, accounts) {
      if (visit.path === '/login' && visit.method === 'POST') {
        const username = visit.form.get('username') ?? visit.form.get('email') ?? '';
        const password = visit.form.get('password') ?? '';
        if (accounts.check(username, password)) {
          return { to: `${visit.base}/account`, headers: { 'set-cookie': accounts.begin(username) } };
        }
        return { body: page('Sign in', render(visit, { shown: 'Wrong user name or password.', username })) };
      }
      if (visit.path === '/login') {
        return {
          body: page('Sign in', render(visit, {})),
          headers: { 'set-cookie': 'csrftoken=abcdefgh12345678; Path=/' },
        };
      }
      return serveAccount(visit, accounts) ?? { status: 404, body: page('Not found', '<p>Nothing here.</p>') };
    },
    ...more,
  };
}

const fields = (look: Look = {}) => `
  <label>User name <input name="username" autocomplete="username" value="${look.username ?? ''}"></label><br>
  <label>Password <input type="password" name="password" autocomplete="current-password"></label><br>`;

const classic = (visit: Visit, look: Look) => `<h1>Sign in</h1>${look.shown === undefined ? '' : error(look.shown)}
  <form method="post" action="${visit.base}/login">${fields(look)}
  <label><input type="checkbox" name="remember"> Remember me</label><br><button>Sign in</button>
  <a href="${visit.base}/forgot">Forgot password?</a></form>`;

const CHALLENGE = 'Basic realm="Files"';

/** Sites whose server draws every page. */
export const FORM_SITES: readonly SiteKind[] = [
  buildFormSite('classic', classic),
  // No script attaches it, so none can observe it.
  buildFormSite(
    'closed-shadow',
    (visit, look) =>
      `<form action="${visit.base}/search"><input type="search" name="q" aria-label="Search"></form>
      <div><template shadowrootmode="closed">${classic(visit, look)}</template></div>`,
  ),
  // The browser fills fields in that have to be replaced, not added to.
  buildFormSite('prefilled', (visit) => classic(visit, { username: 'somebody-else' })),
  buildFormSite(
    'enter-only',
    (visit, look) => `<h1>Log in</h1>${look.shown === undefined ? '' : error(look.shown)}
    <form method="post" action="${visit.base}/login" onkeydown="if (event.key === 'Enter') this.submit()">${fields(look)}</form>`,
  ),
  buildFormSite(
    'beside-signup',
    (visit, look) => `<h2>New here?</h2><form method="post" action="${visit.base}/register">
    <label>Your name <input name="name"></label><label>E-mail <input type="email" name="mail" autocomplete="email"></label>
    <label>Choose a password <input type="password" name="new" autocomplete="new-password"></label>
    <label>Repeat password <input type="password" name="again" autocomplete="new-password"></label>
    <button>Create account</button></form><hr>${classic(visit, look)}`,
  ),
  buildFormSite(
    'banner',
    (visit, look) => `${classic(visit, look)}
    <div id="cookie-consent" role="dialog" style="position:fixed;inset:0;background:rgba(0,0,0,.6)"><div style="background:#fff;margin:120px auto;padding:20px;width:400px">
    <p>We use cookies to improve your experience.</p><button type="button" onclick="document.getElementById('cookie-consent').remove()">Reject all</button>
    <button type="button" onclick="document.getElementById('cookie-consent').remove()">Accept all</button></div></div>`,
  ),
  buildFormSite(
    'german',
    (
      visit,
      look,
    ) => `<h1>Anmelden</h1>${look.shown === undefined ? '' : error('Benutzername oder Passwort ist falsch.')}
    <form method="post" action="${visit.base}/login"><label>Benutzername <input name="username"></label><br>
    <label>Passwort <input type="password" name="password"></label><br><input type="submit" value="Anmelden"></form>`,
  ),
  buildFormSite(
    'honeypot',
    (
      visit,
      look,
    ) => `<h1>Sign in</h1>${look.shown === undefined ? '' : error(look.shown)}<form method="post" action="${visit.base}/login">
    <div style="position:absolute;left:-5000px"><label>Leave empty <input name="website" tabindex="-1" autocomplete="off"></label>
    <input type="password" name="confirm_pass" tabindex="-1"></div>${fields(look)}<button>Sign in</button></form>`,
  ),
  buildFormSite(
    'opener',
    (
      visit,
      look,
    ) => `<header><button id="open" type="button" onclick="document.getElementById('box').style.display='block'">Log in</button></header>
    <h1>Welcome to the shop</h1><div id="box" style="display:${look.shown === undefined ? 'none' : 'block'}" role="dialog">${classic(visit, look)}</div>`,
  ),
  buildFormSite('frame', (visit, look) =>
    visit.query.has('inner') || look.shown !== undefined
      ? classic(visit, look)
      : `<h1>Portal</h1><iframe src="${visit.base}/login?inner" width="500" height="400"></iframe>`,
  ),
  // Gives no reason: the same form again, empty.
  buildFormSite('silent', (visit, look) =>
    classic(visit, look.username === undefined ? {} : { username: look.username }),
  ),
  {
    name: 'tenant',
    serve(visit, accounts) {
      const own = buildFormSite('tenant', tenantForm);
      const wrong = visit.form.get('company') !== 'acme' || visit.form.get('region') !== 'eu-1';
      if (visit.path === '/login' && visit.method === 'POST' && wrong) {
        accounts.attempts.push({ username: '', ok: false });
        return { body: page('Sign in', tenantForm(visit, { shown: 'Unknown company.' })) };
      }
      return own.serve(visit, accounts);
    },
  },
  buildHttpSite('basic', { 'www-authenticate': CHALLENGE }, page('401', '<p>Unauthorized</p>')),
  // Of a wrong password it says no more than the status.
  buildHttpSite('basic-bare', {}, ''),
];

function tenantForm(visit: Visit, look: Look): string {
  return `<h1>Sign in</h1>${look.shown === undefined ? '' : error(look.shown)}
    <form method="post" action="${visit.base}/login"><label>Company code <input name="company" required></label><br>
    <label>Region <select name="region"><option value="">Choose</option><option value="eu-1">Europe</option><option value="us-1">America</option></select></label><br>
    ${fields(look)}<button>Sign in</button></form>`;
}

function readBasic(header: string): { username: string; password: string } {
  const [username = '', ...rest] = Buffer.from(header.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':');
  return { username, password: rest.join(':') };
}

/** HTTP Basic. The headers and the body are those of the answer to a wrong password. */
function buildHttpSite(name: string, headers: Record<string, string>, body: string): SiteKind {
  return {
    name,
    entry: '/files',
    serve(visit, accounts): Reply {
      const { authorization } = visit.headers;
      const account = serveAccount(visit, accounts);
      if (account !== undefined) return account;
      if (authorization === undefined) {
        return { status: 401, headers: { 'www-authenticate': CHALLENGE }, body: page('401', '<p>Unauthorized</p>') };
      }
      const { username, password } = readBasic(authorization);
      if (!accounts.check(username, password)) return { status: 401, headers, body };
      return { body: page('Files', '<h1>Files</h1>'), headers: { 'set-cookie': accounts.begin(username) } };
    },
  };
}
