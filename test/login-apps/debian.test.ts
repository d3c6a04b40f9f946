import { USER } from './app.ts';
import { FOSSIL, SUPYSONIC, TOMCAT, ZNC } from './apps/debian.ts';
import { posts } from './front.ts';
import { reads, staysAt, testPasswords } from './password-cases.ts';

testPasswords([
  {
    app: FOSSIL,
    entry: '/login',
    root: '/',
    inside: '/timeline',
    sees: staysAt('/timeline'),
    username: USER,
    isAttempt: posts('/login'),
  },
  {
    app: TOMCAT,
    entry: '/examples/jsp/security/protected/index.jsp',
    inside: '/examples/jsp/security/protected/index.jsp',
    sees: reads('You are logged in as'),
    username: USER,
    isAttempt: posts('/examples/jsp/security/protected/j_security_check'),
  },
  {
    app: SUPYSONIC,
    entry: '/user/login',
    root: '/',
    inside: '/user/me',
    sees: staysAt('/user/me'),
    username: USER,
    isAttempt: posts('/user/login'),
  },
  {
    app: ZNC,
    entry: '/mods/global/webadmin/',
    root: '/',
    inside: '/mods/global/webadmin/',
    sees: reads('Logged in as'),
    username: USER,
    isAttempt: posts('/login'),
  },
]);
