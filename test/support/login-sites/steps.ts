import { createHash } from 'node:crypto';
import { generateSync } from 'otplib';
import { randomToken } from '../../../src/platform/crypto.ts';
import { page, serveAccount } from './server.ts';
import type { Accounts, Reply, SiteKind, Visit } from './server.ts';

export const TOTP_SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

/** Mail that the sites have sent, newest last. */
export type SentEmail = { to: string; code?: string; link?: string };
export const sentEmails: SentEmail[] = [];

const error = (text: string) => `<p class="error" role="alert">${text}</p>`;
const nowhere: Reply = { status: 404, body: page('Not found', '<p>Nothing here.</p>') };

/** The state of a login, by its own cookie. */
const halfway = new Map<string, { username: string; code?: string }>();
const findHalf = (visit: Visit) => halfway.get(visit.cookies['flow'] ?? '');

function beginHalf(state: { username: string; code?: string }): string {
  const token = randomToken(12);
  halfway.set(token, state);
  return `flow=${token}; Path=/; HttpOnly`;
}

function askPassword(visit: Visit, shown = ''): Reply {
  return {
    body: page(
      'Password',
      `<h1>Enter your password</h1>${shown}<form method="post" action="${visit.base}/password"><p>${findHalf(visit)?.username ?? ''}</p>
      <label>Password <input type="password" name="password" autocomplete="current-password"></label><button>Next</button></form>`,
    ),
  };
}

function askName(visit: Visit, shown = ''): Reply {
  return {
    body: page(
      'Sign in',
      `<h1>Sign in</h1>${shown}<form method="post" action="${visit.base}/login"><label>E-mail <input type="email" name="username" autocomplete="username"></label><button>Next</button></form>`,
    ),
  };
}

function askCode(visit: Visit, text: string, shown = ''): Reply {
  return {
    body: page(
      'Verification',
      `<h1>Two-step verification</h1>${shown}<p>${text}</p><form method="post" action="${visit.base}/code">
      <label>Verification code <input name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="6"></label><button>Verify</button></form>`,
    ),
  };
}

const askBoth = (visit: Visit, shown = '') => ({
  body: page(
    'Sign in',
    `<h1>Sign in</h1>${shown}<form method="post" action="${visit.base}/login"><label>E-mail <input type="email" name="username" autocomplete="username"></label><br>
    <label>Password <input type="password" name="password" autocomplete="current-password"></label><br><button>Sign in</button></form>`,
  ),
});

function finish(visit: Visit, accounts: Accounts, username: string): Reply {
  return { to: `${visit.base}/account`, headers: { 'set-cookie': accounts.begin(username) } };
}

const twoPages: SiteKind = {
  name: 'two-pages',
  serve(visit, accounts) {
    const route = `${visit.method} ${visit.path}`;
    const username = visit.form.get('username') ?? '';
    if (route === 'GET /login') return askName(visit);
    if (route === 'POST /login') {
      return { to: `${visit.base}/password`, headers: { 'set-cookie': beginHalf({ username }) } };
    }
    if (route === 'GET /password') return askPassword(visit);
    if (route === 'POST /password') {
      const name = findHalf(visit)?.username ?? '';
      if (!accounts.check(name, visit.form.get('password') ?? '')) {
        return askPassword(visit, error('Wrong password. Try again.'));
      }
      return finish(visit, accounts, name);
    }
    return serveAccount(visit, accounts) ?? nowhere;
  },
};

/** Password, then a code: of an authenticator, or out of an email. */
/** The code of now and those beside it, as sites take them: whoever types one takes a while. */
function listTotpCodes(): string[] {
  const now = Math.floor(Date.now() / 1000);
  return [-30, 0, 30].map((seconds) => generateSync({ secret: TOTP_SECRET, epoch: now + seconds }));
}

function buildCodeSite(name: string, kind: 'totp' | 'mail'): SiteKind {
  const text = kind === 'totp' ? 'Enter the code from your authenticator app.' : 'We sent a code to a***@example.com.';
  return {
    name,
    serve(visit, accounts) {
      const route = `${visit.method} ${visit.path}`;
      if (route === 'GET /login') return askBoth(visit);
      if (route === 'POST /login') {
        const username = visit.form.get('username') ?? '';
        if (!accounts.check(username, visit.form.get('password') ?? '')) {
          return askBoth(visit, error('Invalid e-mail or password.'));
        }
        const code = String(Math.floor(100_000 + Math.random() * 900_000));
        if (kind === 'mail') sentEmails.push({ to: username, code });
        return { to: `${visit.base}/code`, headers: { 'set-cookie': beginHalf({ username, code }) } };
      }
      if (route === 'GET /code') return askCode(visit, text);
      if (route === 'POST /code') {
        const half = findHalf(visit);
        const wanted = kind === 'totp' ? listTotpCodes() : [half?.code];
        const ok = half !== undefined && wanted.includes(visit.form.get('code') ?? '');
        accounts.attempts.push({ username: 'code', ok });
        return ok ? finish(visit, accounts, half.username) : askCode(visit, text, error('That code is incorrect.'));
      }
      return serveAccount(visit, accounts) ?? nowhere;
    },
  };
}

const mailOnly: SiteKind = {
  name: 'mail-code',
  serve(visit, accounts) {
    const route = `${visit.method} ${visit.path}`;
    if (route === 'GET /login') return askName(visit);
    if (route === 'POST /login') {
      const username = visit.form.get('username') ?? '';
      const code = String(Math.floor(100_000 + Math.random() * 900_000));
      sentEmails.push({ to: username, code });
      return { to: `${visit.base}/code`, headers: { 'set-cookie': beginHalf({ username, code }) } };
    }
    if (route === 'GET /code') return askCode(visit, 'We have e-mailed a code to a***@example.com.');
    if (route === 'POST /code') {
      const half = findHalf(visit);
      const ok = half !== undefined && visit.form.get('code') === half.code;
      accounts.attempts.push({ username: 'code', ok });
      return ok
        ? finish(visit, accounts, half.username)
        : askCode(visit, 'We have e-mailed a code to a***@example.com.', error('Invalid code, please try again.'));
    }
    return serveAccount(visit, accounts) ?? nowhere;
  },
};

const magic = new Map<string, string>();
const magicLink: SiteKind = {
  name: 'magic-link',
  serve(visit, accounts) {
    const route = `${visit.method} ${visit.path}`;
    if (route === 'GET /login') return askName(visit);
    if (route === 'POST /login') {
      const username = visit.form.get('username') ?? '';
      const token = randomToken(16);
      magic.set(token, username);
      sentEmails.push({ to: username, link: `${visit.base}/magic?token=${token}` });
      return {
        body: page(
          'Check your inbox',
          '<h1>Check your e-mail</h1><p>We sent a sign-in link to a***@example.com. Click the link to sign in.</p>',
        ),
      };
    }
    if (visit.path === '/magic') {
      const username = magic.get(visit.query.get('token') ?? '');
      accounts.attempts.push({ username: 'link', ok: username !== undefined });
      if (username === undefined) return { body: page('Link', error('This link is invalid or has expired.')) };
      return finish(visit, accounts, username);
    }
    return serveAccount(visit, accounts) ?? nowhere;
  },
};

/** RFC 7616 with MD5, as most servers have it. */
const digest: SiteKind = {
  name: 'digest',
  entry: '/files',
  serve(visit, accounts) {
    const account = serveAccount(visit, accounts);
    if (account !== undefined) return account;
    const refused = {
      status: 401,
      headers: { 'www-authenticate': `Digest realm="files", qop="auth", nonce="${randomToken(12)}"` },
      body: page('401', '<p>Unauthorized</p>'),
    };
    const fields = Object.fromEntries(
      [...(visit.headers.authorization ?? '').matchAll(/(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^,\s]+))/g)].map(
        ([, name = '', quoted, bare]) => [name, quoted?.replaceAll(/\\(.)/g, '$1') ?? bare ?? ''],
      ),
    );
    if (fields['response'] === undefined) return refused;
    const hash = (text: string) => createHash('md5').update(text).digest('hex');
    const { username = '', nonce, nc, cnonce, uri } = fields;
    const ha1 = hash(`${username}:files:${accounts.passwords.get(username) ?? ''}`);
    const wanted = hash(`${ha1}:${nonce}:${nc}:${cnonce}:auth:${hash(`${visit.method}:${uri}`)}`);
    const ok = wanted === fields['response'];
    accounts.attempts.push({ username, ok });
    return ok
      ? { body: page('Files', '<h1>Files</h1>'), headers: { 'set-cookie': accounts.begin(username) } }
      : refused;
  },
};

/** Sites with several steps. */
export const STEP_SITES: readonly SiteKind[] = [
  twoPages,
  buildCodeSite('totp', 'totp'),
  buildCodeSite('password-and-mail', 'mail'),
  mailOnly,
  magicLink,
  digest,
];
