import { USER } from './app.ts';
import { NODE_RED, PARSE_DASHBOARD, UNGIT } from './apps/npm.ts';
import { posts } from './front.ts';
import { reads, staysAt, testPasswords } from './password-cases.ts';

testPasswords([
  {
    app: NODE_RED,
    entry: '/',
    inside: '/',
    sees: async (page) => {
      // Drawn by a script: either the dialog of the login or the editor.
      await page
        .getByText(/Deploy|Password/)
        .first()
        .waitFor();
      return reads('Deploy')(page);
    },
    username: USER,
    isAttempt: posts('/auth/token'),
  },
  {
    app: UNGIT,
    entry: '/',
    inside: '/',
    sees: (page) =>
      page.evaluate(async () => ((await (await fetch('/api/loggedin')).json()) as { loggedIn: boolean }).loggedIn),
    username: USER,
    isAttempt: posts('/api/login'),
  },
  {
    app: PARSE_DASHBOARD,
    entry: '/login',
    root: '/',
    inside: '/apps',
    sees: staysAt('/apps'),
    username: USER,
    isAttempt: posts('/login'),
  },
]);
