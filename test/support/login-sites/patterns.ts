import { page, serveAccount } from './server.ts';
import type { SiteKind } from './server.ts';

/** A registration whose password field has a pattern, and that signs in at once. */
function buildPatternSite(name: string, attributes: string): SiteKind {
  return {
    name,
    entry: '/register',
    serve(visit, accounts) {
      const route = `${visit.method} ${visit.path}`;
      if (route === 'GET /register') {
        return {
          body: page(
            'Register',
            `<h1>Create your account</h1><form method="post"><label>E-mail <input type="email" name="email"></label>
            <label>Password <input type="password" name="password" autocomplete="new-password" ${attributes}></label>
            <button>Create account</button></form>`,
          ),
        };
      }
      if (route === 'POST /register') {
        const email = visit.form.get('email') ?? '';
        accounts.passwords.set(email, visit.form.get('password') ?? '');
        return { to: `${visit.base}/account`, headers: { 'set-cookie': accounts.begin(email) } };
      }
      return serveAccount(visit, accounts) ?? { status: 404 };
    },
  };
}

/** No symbols, and a length of its own. */
export const STRICT_PATTERN = buildPatternSite('strict', 'pattern="[A-Za-z0-9]+" minlength="12" maxlength="16"');
/** Takes time that doubles with every character. */
export const ENDLESS_PATTERN = buildPatternSite('endless', 'pattern="([^ ]+)+ " minlength="60"');
