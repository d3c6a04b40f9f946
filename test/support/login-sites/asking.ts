import { USER } from './server.ts';
import { enter, form, html } from './strangers.ts';
import type { Stranger } from './strangers.ts';

/** Asks for a code after the password, and tells `sent` when it is asked. */
export const buildAsking = (name: string, text: string, sent: () => Promise<unknown>): Stranger => ({
  name,
  right: async ({ base }) => {
    await sent();
    return { to: `${base}/code` };
  },
  wrong: (visit) => html(form(visit, '<p role="alert">Wrong.</p>')),
  pages: {
    '/code': () =>
      html(
        `<p>${text}</p><form action="check"><input name="code" autocomplete="one-time-code"><button>Verify</button></form>`,
      ),
    '/check': (visit, accounts) =>
      visit.query.get('code') === '492039' ? enter(visit, accounts, USER) : { to: `${visit.base}/code` },
  },
});
