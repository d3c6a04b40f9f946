import { USER } from './app.ts';
import { DJANGO } from './apps/django.ts';
import { DOKUWIKI } from './apps/dokuwiki.ts';
import { DELUGE } from './apps/downloads.ts';
import { FLASK, PEOPLE } from './apps/flask.ts';
import { REDMINE } from './apps/redmine.ts';
import { reads, testPasswords } from './password-cases.ts';
import type { PasswordCase } from './password-cases.ts';

const CASES: PasswordCase[] = [
  {
    app: DOKUWIKI,
    entry: '/doku.php?id=start&do=login',
    inside: '/doku.php?id=start',
    sees: reads('Minutes of the board'),
    username: USER,
    isAttempt: ({ method, body }) => method === 'POST' && body.includes('do=login'),
  },
  {
    app: DELUGE,
    entry: '/',
    inside: '/',
    sees: (page) =>
      page.evaluate(async () => {
        const body = JSON.stringify({ method: 'auth.check_session', params: [], id: 1 });
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch('/json', { method: 'POST', headers, body });
        return ((await answer.json()) as { result: boolean }).result;
      }),
    username: undefined,
    isAttempt: ({ body }) => body.includes('"auth.login"'),
  },
  {
    app: DJANGO,
    label: 'admin',
    entry: '/admin/login/?next=/admin/',
    inside: '/admin/',
    sees: reads('Site administration'),
    username: USER,
    isAttempt: ({ method, path }) => method === 'POST' && path.startsWith('/admin/login/'),
  },
  {
    app: DJANGO,
    label: 'allauth',
    entry: '/accounts/login/',
    inside: '/accounts/email/',
    sees: reads('ada@example.com'),
    username: 'ada@example.com',
    isAttempt: ({ method, path }) => method === 'POST' && path.startsWith('/accounts/login/'),
  },
  {
    app: FLASK,
    entry: '/login',
    inside: '/account',
    sees: reads('Minutes of the board'),
    username: PEOPLE.password,
    isAttempt: ({ method, path }) => method === 'POST' && path.startsWith('/login'),
  },
  {
    app: REDMINE,
    entry: '/login',
    inside: '/my/account',
    sees: reads('Logged in as'),
    username: USER,
    isAttempt: ({ method, path }) => method === 'POST' && path.startsWith('/login'),
  },
];

testPasswords(CASES);
