import { page } from './server.ts';
import type { SiteKind, Visit } from './server.ts';

/** A site that sets a cookie and redirects for right and wrong passwords alike; only the page differs. */
function buildSite(name: string, right: (visit: Visit) => string, wrong = right): SiteKind {
  return {
    name,
    serve(visit, accounts) {
      const route = `${visit.method} ${visit.path}`;
      if (route === 'GET /login') {
        return {
          body: page(
            'Sign in',
            `<h1>Sign in</h1><form method="post" action="${visit.base}/login"><label>E-mail <input type="email" name="username"></label>
            <label>Password <input type="password" name="password"></label><button>Sign in</button></form>`,
          ),
        };
      }
      if (route === 'POST /login') {
        const username = visit.form.get('username') ?? '';
        const isRight = accounts.check(username, visit.form.get('password') ?? '');
        return {
          to: `${visit.base}/${isRight ? 'right' : 'wrong'}`,
          headers: { 'set-cookie': accounts.begin(isRight ? username : '') },
        };
      }
      // Only members see the page behind a login.
      if (visit.path === '/right' && accounts.who(visit) === undefined) return { to: `${visit.base}/login` };
      if (visit.path === '/right') return { body: page('Example', right(visit)) };
      if (visit.path === '/wrong') return { body: page('Example', wrong(visit)) };
      return { status: 404, body: page('Not found', '<p>Nothing here.</p>') };
    },
  };
}

const ask = (text: string, field: string, button: string) =>
  buildSite(text, () => `<p>${text}</p><form method="post" action="next">${field}<button>${button}</button></form>`);

/** An unnamed second step: nobody is signed in before it. */
export const UNKNOWN_STEPS: readonly SiteKind[] = [
  { ...ask('One more thing', '<input name="xq7">', 'Continue'), name: 'unknown-continue' },
  { ...ask('Welcome back, Ada', '<input name="xq7">', 'Verify'), name: 'unknown-verify' },
  { ...ask('Almost there', '<input name="xq7">', 'Sign in'), name: 'unknown-sign-in' },
];

/** A field without a name of its own, on a page that says what it wants. */
export const UNNAMED_CODES: readonly SiteKind[] = [
  { ...ask('Open your authenticator and type what it shows.', '<input name="xq7">', 'Continue'), name: 'unnamed-code' },
  { ...ask('We sent a code to a***@example.com.', '<input name="xq7">', 'Verify'), name: 'unnamed-sent' },
  { ...ask('Two-factor login', '<input name="xq7" type="password">', 'OK'), name: 'unnamed-hidden' },
];

const start = '<h1>Projects</h1><p>Two projects are open.</p>';

/** A wrong password leads to a page that looks like a start page. */
export const REPEATED_LOGINS: readonly SiteKind[] = [
  buildSite(
    'name-again',
    () => start,
    () =>
      '<h1>Welcome</h1><form method="post" action="name"><label>E-mail <input type="email" name="username"></label><button>Log in</button></form>',
  ),
  buildSite(
    'header-again',
    () => start,
    () =>
      `<form method="post" action="login"><input name="username" placeholder="User name"><input type="password" name="password" placeholder="Password"><button>Log in</button></form>${start}`,
  ),
];

/** Pages behind a login that have a form and no marker of an account. */
export const FORMS_AFTER_LOGIN: readonly SiteKind[] = [
  buildSite(
    'search-behind',
    () => `${start}<form action="find"><input name="q" placeholder="Search"><button>Go</button></form>`,
  ),
  buildSite(
    'newsletter-behind',
    () =>
      `${start}<form method="post"><p>Our newsletter</p><input type="email" name="mail" placeholder="E-mail"><button>Subscribe</button></form>`,
  ),
  buildSite(
    'settings-behind',
    () =>
      `<h1>Settings</h1><form method="post"><label>Name <input name="display" value="Ada"></label><label>Phone <input name="phone"></label><button>Save</button></form>
      <form method="post"><label>Nickname <input name="nick" value="ada"></label><button>Submit</button></form>`,
  ),
  buildSite(
    'message-behind',
    () => `${start}<form method="post"><input name="text" placeholder="Say something"><button>Send</button></form>`,
  ),
  buildSite(
    'password-behind',
    () =>
      `<h1>Account</h1><form method="post"><label>Current password <input type="password" name="old"></label>
      <label>New password <input type="password" name="new"></label><label>Repeat new password <input type="password" name="again"></label><button>Change password</button></form>`,
  ),
];
