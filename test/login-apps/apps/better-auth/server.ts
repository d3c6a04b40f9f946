import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { passkey } from '@better-auth/passkey';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node';
import { emailOTP, magicLink, twoFactor } from 'better-auth/plugins';
import { build } from 'esbuild';
import { createTransport } from 'nodemailer';
import type { Settings } from '../better-auth.ts';
import { PAGES, showAccount, showPage } from './pages.ts';

const settings = JSON.parse(process.argv[2] ?? '') as Settings;
const { port, scratch, smtpPort, password, people, authenticator } = settings;
const post = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true });
const send = async (to: string, subject: string, text: string): Promise<void> => {
  await post.sendMail({ from: 'board@example.com', to, subject, text });
};

const auth = betterAuth({
  baseURL: settings.url,
  secret: 'of one test, and of nothing else',
  database: new DatabaseSync(join(scratch, 'site.db')),
  telemetry: { enabled: false },
  emailAndPassword: { enabled: true, requireEmailVerification: true },
  emailVerification: {
    autoSignInAfterVerification: true,
    sendVerificationEmail: ({ user, url }) => send(user.email, 'Confirm your address', `Follow this link: ${url}`),
  },
  plugins: [
    emailOTP({ sendVerificationOTP: ({ email, otp }) => send(email, 'Your code', `Your code is ${otp}`) }),
    magicLink({ sendMagicLink: ({ email, url }) => send(email, 'Sign in', `Sign in with this link: ${url}`) }),
    twoFactor({ issuer: 'Board', skipVerificationOnEnable: true }),
    passkey(),
  ],
});

async function addPerson(email: string): Promise<void> {
  const { internalAdapter, password: passwords } = await auth.$context;
  const user = await internalAdapter.createUser(
    { email, name: email, emailVerified: true },
    { method: 'email-password' },
  );
  const hash = await passwords.hash(password);
  await internalAdapter.linkAccount({ userId: user.id, providerId: 'credential', accountId: user.id, password: hash });
}

/** Sets up an authenticator for a person, and stores its URI. */
async function enableAuthenticator(email: string): Promise<void> {
  const { headers } = await auth.api.signInEmail({ body: { email, password }, returnHeaders: true });
  const cookie = headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
  const enabled = await auth.api.enableTwoFactor({ body: { password }, headers: new Headers({ cookie }) });
  if (enabled.method === 'totp') writeFileSync(join(scratch, 'authenticator'), enabled.totpURI);
}

await (await getMigrations(auth.options)).runMigrations();
for (const email of people) await addPerson(email);
await enableAuthenticator(authenticator);

const script = await build({
  entryPoints: [fileURLToPath(new URL('page.js', import.meta.url))],
  bundle: true,
  write: false,
  format: 'esm',
});
const page = script.outputFiles[0]?.text ?? '';
const handle = toNodeHandler(auth);

createServer((request, response) => {
  const answer = async (): Promise<void> => {
    const { pathname } = new URL(request.url ?? '', settings.url);
    if (pathname.startsWith('/api/auth/')) return handle(request, response);
    if (pathname === '/page.js') return void response.setHeader('content-type', 'text/javascript').end(page);
    const headers = { 'content-type': 'text/html; charset=utf-8' };
    if (pathname !== '/account') {
      const found = PAGES[pathname];
      return void response.writeHead(found ? 200 : 404, headers).end(found && showPage(found));
    }
    const session = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) });
    if (session === null) response.writeHead(302, { location: '/login' }).end();
    else response.writeHead(200, headers).end(showAccount(session.user.email));
  };
  answer().catch(() => response.destroy());
}).listen(port, '127.0.0.1');
