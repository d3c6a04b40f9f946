import { page, serveAccount } from './server.ts';
import type { Reply, SiteKind, Visit } from './server.ts';

const form = ({ base }: Visit) => `<h1>Sign in</h1><form method="post" action="${base}/login">
  <label>E-mail <input type="email" name="username"></label><label>Password <input type="password" name="password"></label>
  <button>Sign in</button></form>`;

/** A response that is held back until `release` is called. `ticks`: seconds that the page has waited, by its own clock. */
export type Hold = { release(): void; ticks: number; asked: boolean };

/** Shows the login form again after the right password, until a call of its script says who is signed in. */
export function buildHeldSite(name: string): { kind: SiteKind; hold: Hold } {
  const waiting: (() => void)[] = [];
  const hold: Hold = {
    ticks: 0,
    asked: false,
    release: () => {
      for (const resume of waiting.splice(0)) resume();
    },
  };
  const script = (base: string) => `<script>
    if (document.cookie.includes('tried=')) {
      fetch('${base}/session').then((answer) => { if (answer.ok) location.replace('${base}/account'); });
      setInterval(() => { new Image().src = '${base}/tick?' + Math.random(); }, 1000);
    }</script>`;
  const kind: SiteKind = {
    name,
    async serve(visit, accounts): Promise<Reply> {
      const route = `${visit.method} ${visit.path}`;
      if (route === 'GET /login') return { body: page('Sign in', form(visit) + script(visit.base)) };
      if (route === 'POST /login') {
        const username = visit.form.get('username') ?? '';
        const isRight = accounts.check(username, visit.form.get('password') ?? '');
        const cookies = ['tried=1; Path=/', ...(isRight ? [accounts.begin(username)] : [])];
        return { to: `${visit.base}/login`, headers: { 'set-cookie': cookies } };
      }
      if (visit.path === '/tick') {
        hold.ticks += 1;
        return { status: 404 };
      }
      if (visit.path === '/session') {
        hold.asked = true;
        await new Promise<void>((resolve) => waiting.push(resolve));
        return { status: accounts.who(visit) === undefined ? 401 : 200, body: {} };
      }
      return serveAccount(visit, accounts) ?? { status: 404 };
    },
  };
  return { kind, hold };
}

/** Leads to a form for a new password, and keeps its session in the page's storage: no cookie says who is in. */
export const NEW_PASSWORD_SITE: SiteKind = {
  name: 'new-password',
  serve(visit, accounts) {
    const route = `${visit.method} ${visit.path}`;
    if (route === 'GET /login') return { body: page('Sign in', form(visit)) };
    if (route === 'POST /login') {
      const isRight = accounts.check(visit.form.get('username') ?? '', visit.form.get('password') ?? '');
      return { to: `${visit.base}/${isRight ? 'start' : 'login'}` };
    }
    return {
      body: page(
        'Example',
        `<h1>Account</h1><form method="post"><label>Current password <input type="password" name="old"></label>
        <label>New password <input type="password" name="new"></label>
        <label>Repeat new password <input type="password" name="again"></label><button>Change password</button></form>
        <script>localStorage.setItem('token', 'a-token-of-the-session');</script>`,
      ),
    };
  },
};
