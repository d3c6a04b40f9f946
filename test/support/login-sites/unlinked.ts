import { page, serveAccount } from './server.ts';
import type { SiteKind } from './server.ts';

const HOME = page('Notes from the workshop', '<h1>Notes from the workshop</h1><p>Nothing here leads to a login.</p>');

/** A start page without a link to its login, which has one of the common addresses. */
const far: SiteKind = {
  name: 'far',
  entry: '/',
  serve(visit, accounts) {
    if (visit.path === '/') return { body: HOME };
    if (`${visit.method} ${visit.path}` === 'GET /users/sign_in') {
      return {
        body: page(
          'Sign in',
          `<form method="post"><label>E-mail <input type="email" name="email"></label>
          <label>Password <input type="password" name="password"></label><button>Sign in</button></form>`,
        ),
      };
    }
    if (`${visit.method} ${visit.path}` === 'POST /users/sign_in') {
      const username = visit.form.get('email') ?? '';
      if (accounts.check(username, visit.form.get('password') ?? '')) {
        return { to: `${visit.base}/account`, headers: { 'set-cookie': accounts.begin(username) } };
      }
      return { status: 401, body: page('Sign in', '<p role="alert" class="error">Wrong e-mail or password.</p>') };
    }
    return serveAccount(visit, accounts) ?? { status: 404, body: page('Not found', '<p>Nothing here.</p>') };
  },
};

const nowhere: SiteKind = {
  name: 'nowhere',
  entry: '/',
  serve: ({ path }) => (path === '/' ? { body: HOME } : { status: 404, body: page('Not found', '<p>Nothing.</p>') }),
};

/** Answers every address with the same page. */
const onePage: SiteKind = { name: 'one-page', entry: '/', serve: () => ({ body: HOME }) };

export const UNLINKED_SITES = [far, nowhere, onePage];
