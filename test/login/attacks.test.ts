import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FORM_SITES } from '../support/login-sites/forms.ts';
import { PASSWORD, USER, page, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites, Reply, SiteKind } from '../support/login-sites/server.ts';
import { byPassword, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

/** A forbidden machine: every request that arrives here has passed the guard. */
async function startSecret() {
  const reached: string[] = [];
  const server = createServer((request, response) => {
    reached.push(`${request.method} ${request.headers.host}${request.url}`);
    response.writeHead(200, { 'access-control-allow-origin': '*' }).end('secret');
  });
  server.on('upgrade', (request, socket) => {
    reached.push(`upgrade ${request.url}`);
    socket.destroy();
  });
  server.on('connection', (socket) => reached.push(`connection of ${socket.remotePort}`));
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, reached, close: () => new Promise((resolve) => server.close(resolve)) };
}

let secret: Awaited<ReturnType<typeof startSecret>>;
let sites: LoginSites;
let login: TestLogin;
/** addresses that names resolve to, in order */
const names = new Map<string, string[]>();

const form = (
  base: string,
) => `<form method="post" action="${base}/login"><label>User <input name="username" autocomplete="username"></label>
  <label>Password <input type="password" name="password" autocomplete="current-password"></label><button>Sign in</button></form>`;

/** A page that tries to reach the secret in one way, and also has a login. */
function buildAttack(name: string, script: () => string, markup: () => string = () => ''): SiteKind {
  return {
    name,
    serve(visit, accounts): Reply {
      if (visit.path === '/worker.js') {
        return {
          headers: { 'content-type': 'text/javascript', 'service-worker-allowed': '/' },
          body: `self.addEventListener('install', (event) => event.waitUntil(Promise.all(${JSON.stringify(listTargets())}.map((url) => fetch(url, { mode: 'no-cors' }).catch(() => 0)))));`,
        };
      }
      if (visit.path === '/login' && visit.method === 'POST') {
        const username = visit.form.get('username') ?? '';
        const ok = accounts.check(username, visit.form.get('password') ?? '');
        return { to: `${visit.base}/${ok ? 'account' : 'login'}`, headers: { 'set-cookie': accounts.begin(username) } };
      }
      if (visit.path === '/account' && accounts.who(visit) !== undefined) {
        return { body: page('Account', '<h1>Hello</h1><a href="logout">Log out</a>') };
      }
      return { body: page('Sign in', `${form(visit.base)}${markup()}<script>${script()}</script>`) };
    },
  };
}

/** The secret under every form of its address. */
function listTargets(): string[] {
  const { port } = secret;
  return [
    '127.0.0.2',
    '127.1',
    '2130706434',
    '0x7f.0.0.2',
    '0177.0.0.2',
    '0.0.0.0',
    'localhost',
    '127.0.0.2.',
    '[::1]',
    '[::ffff:127.0.0.2]',
    '[::ffff:7f00:2]',
    '[::]',
    'inside.test',
    'sub.inside.test',
  ].map((host) => `http://${host}:${port}/`);
}

const each = (use: (url: string) => string) => () => listTargets().map(use).join('\n');

const ATTACKS: SiteKind[] = [
  buildAttack(
    'fetch',
    each((url) => `fetch('${url}', { mode: 'no-cors' }).catch(() => 0);`),
  ),
  buildAttack(
    'image',
    each((url) => `new Image().src = '${url}i.png';`),
  ),
  buildAttack(
    'frames',
    () => '',
    each((url) => `<iframe src="${url}frame"></iframe><object data="${url}object"></object>`),
  ),
  buildAttack(
    'sockets',
    each((url) => `try { new WebSocket('${url.replace('http', 'ws')}socket'); } catch {}`),
  ),
  buildAttack(
    'events',
    each((url) => `new EventSource('${url}events');`),
  ),
  buildAttack(
    'beacon',
    each((url) => `navigator.sendBeacon('${url}beacon', 'x');`),
  ),
  buildAttack('service-worker', () => `navigator.serviceWorker.register('worker.js').catch(() => 0);`),
  buildAttack('shared-worker', () => `new SharedWorker('worker.js');`),
  buildAttack(
    'popup',
    each((url) => `window.open('${url}popup');`),
  ),
  buildAttack(
    'download',
    each(
      (url) =>
        `{ const a = document.createElement('a'); a.href = '${url}file'; a.download = 'x'; document.body.append(a); a.click(); }`,
    ),
  ),
  buildAttack(
    'prefetch',
    () => '',
    each(
      (url) =>
        `<link rel="prefetch" href="${url}p"><link rel="preconnect" href="${url}"><link rel="dns-prefetch" href="${url}">`,
    ),
  ),
  buildAttack(
    'rtc',
    () => `const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.2:${secret.port}' }, { urls: 'turn:127.0.0.2:${secret.port}?transport=tcp', username: 'a', credential: 'b' }] });
      p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o));`,
  ),
  buildAttack(
    'files',
    () => `fetch('file:///etc/passwd').catch(() => 0); window.open('file:///etc/passwd');`,
    () => '<iframe src="file:///etc/passwd"></iframe>',
  ),
];

const REDIRECTS: SiteKind = {
  name: 'redirect',
  serve: ({ query }) => ({ status: 302, to: query.get('to') ?? '' }),
};

beforeAll(async () => {
  secret = await startSecret();
  const classic = FORM_SITES.filter(({ name }) => name === 'classic');
  sites = await startLoginSites([...classic, ...ATTACKS, REDIRECTS]);
  login = await startTestLogin({
    egress: {
      allow: [`127.0.0.1:${sites.port}`],
      resolve: async (name) => {
        const answers = names.get(name) ?? (/inside\.test$|^localhost$/.test(name) ? ['127.0.0.2'] : []);
        const [first = ''] = answers.length > 1 ? answers.splice(0, 1) : answers;
        if (first === '') throw new Error('no such name');
        return [first];
      },
    },
  });
});
afterAll(async () => {
  await login.close();
  await sites.close();
  await secret.close();
});
beforeEach(() => {
  sites.reset();
  secret.reached.length = 0;
});

test.each(ATTACKS.map(({ name }) => name))('a page cannot reach a private address by %s', async (name) => {
  const { status, body } = await login.post('/api/login', byPassword(sites.url(name), USER, PASSWORD));
  // A page that navigates on its own no longer has a form.
  expect([status, body['error']]).toEqual(name === 'download' ? [422, 'login_form_not_found'] : [200, undefined]);
  expect(secret.reached).toEqual([]);
});

describe('the address of the login page itself', () => {
  test('may not be a private one, however it is written', async () => {
    for (const url of listTargets()) {
      const { status, body } = await login.post('/api/login', byPassword(`${url}login`, USER, PASSWORD));
      expect([url, status, body['error']]).toEqual([url, 400, 'unsafe_domain']);
    }
    expect(secret.reached).toEqual([]);
  });

  test('may not redirect to one', async () => {
    for (const url of ['http://127.0.0.2', 'http://[::1]', 'http://inside.test'].map(
      (host) => `${host}:${secret.port}/`,
    )) {
      const domain = `${sites.url('redirect')}?to=${encodeURIComponent(url)}`;
      const { status, body } = await login.post('/api/login', byPassword(domain, USER, PASSWORD));
      expect([url, status, body['error']]).toEqual([url, 400, 'unsafe_domain']);
    }
    expect(secret.reached).toEqual([]);
  });

  test.each([
    'file:///etc/passwd',
    'ftp://example.com/',
    'javascript:alert(1)',
    'data:text/html,x',
    'http://a:b@example.com/',
  ])('may not be %s', async (domain) => {
    const { status, body } = await login.post('/api/login', byPassword(domain, USER, PASSWORD));
    expect([status, ['validation_error', 'unsafe_domain'].includes(String(body['error']))]).toEqual([400, true]);
  });

  test('may not change its address between the check and the visit', async () => {
    names.set('rebind.test', ['93.184.216.34', '127.0.0.2']);
    const { body } = await login.post(
      '/api/login',
      byPassword(`http://rebind.test:${secret.port}/login`, USER, PASSWORD),
    );
    expect(body['error']).toBe('unsafe_domain');
    expect(secret.reached).toEqual([]);
  });
});

describe('the browser', () => {
  const listProcesses = (group: number) =>
    readdirSync('/proc').filter((pid) => {
      if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/stat`)) return false;
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return Number(fields[2]) === group && fields[0] !== 'Z';
      } catch {
        return false;
      }
    });

  test('that is killed in the middle of a login is a clean error, and leaves nothing behind', async () => {
    // A site that never answers blocks the login.
    const stuck = createServer(() => undefined);
    await new Promise<void>((resolve) => stuck.listen(0, '127.0.0.1', resolve));
    const { port } = stuck.address() as AddressInfo;
    const own = await startTestLogin();
    const under = own.post('/api/login', byPassword(`http://127.0.0.1:${port}/login`, USER, PASSWORD));
    await expect.poll(() => own.fleet.pids().length).toBeGreaterThan(0);
    await expect
      .poll(() => new Promise((resolve) => stuck.getConnections((_error, count) => resolve(count))))
      .toBeGreaterThan(0);
    const pids = own.fleet.pids();
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    const { status, body } = await under;
    expect([status, body['error']]).toEqual([503, 'capacity']);
    const again = await own.post('/api/login', byPassword(sites.url('classic'), USER, PASSWORD));
    expect(again.status).toBe(200);
    const all = [...pids, ...own.fleet.pids()];
    await own.close();
    await expect.poll(() => all.flatMap(listProcesses)).toEqual([]);
    stuck.closeAllConnections();
    stuck.close();
  });

  test('that is not there is a 503', async () => {
    const own = await startTestLogin({ fleet: { program: undefined } });
    const { status, body } = await own.post('/api/login', byPassword(sites.url('classic'), USER, PASSWORD));
    expect([status, body['error']]).toEqual([503, 'capacity']);
    await own.close();
  });

  test('is given up at the deadline', async () => {
    const stuck = createServer(() => undefined);
    await new Promise<void>((resolve) => stuck.listen(0, '127.0.0.1', resolve));
    const { port } = stuck.address() as AddressInfo;
    const own = await startTestLogin();
    const body = { ...byPassword(`http://127.0.0.1:${port}/login`, USER, PASSWORD), timeoutSeconds: 5 };
    const answer = await own.post('/api/login', body);
    expect([answer.status, answer.body['error']]).toEqual([504, 'login_timeout']);
    await own.close();
    stuck.closeAllConnections();
    stuck.close();
  });
});
