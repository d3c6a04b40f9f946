import { USER } from './app.ts';
import { APPBUILDER, DATASETTE, JUPYTER, SQLITE_WEB, TRAC, WAGTAIL } from './apps/python.ts';
import { posts } from './front.ts';
import { reads, staysAt, testPasswords } from './password-cases.ts';

testPasswords([
  {
    app: SQLITE_WEB,
    entry: '/login/',
    root: '/',
    inside: '/',
    sees: reads('minutes_of_the_board'),
    username: undefined,
    isAttempt: posts('/login/'),
  },
  {
    app: DATASETTE,
    entry: '/-/login',
    inside: '/',
    sees: reads('minutes_of_the_board'),
    username: USER,
    isAttempt: posts('/-/login'),
  },
  {
    app: APPBUILDER,
    entry: '/login/',
    root: '/',
    inside: '/users/userinfo/',
    sees: reads('ada@example.com'),
    username: USER,
    isAttempt: posts('/login'),
  },
  {
    app: WAGTAIL,
    entry: '/admin/login/',
    root: '/admin/',
    inside: '/admin/',
    sees: staysAt('/admin/'),
    username: USER,
    isAttempt: posts('/admin/login'),
  },
  {
    app: JUPYTER,
    entry: '/login',
    root: '/',
    inside: '/api/contents',
    sees: reads('"content"'),
    username: undefined,
    isAttempt: posts('/login'),
  },
  {
    app: TRAC,
    entry: '/login',
    inside: '/wiki',
    sees: reads('logged in as'),
    username: USER,
    isAttempt: ({ path, authorization }) => path.startsWith('/login') && authorization !== '',
  },
]);
