import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { removeLeftovers } from '../../src/login/browser/leftovers.ts';
import { FORM_SITES } from '../support/login-sites/forms.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { SLOW_SITE } from '../support/login-sites/failures.ts';
import { byPassword, startTestLogin } from './harness.ts';

let sites: LoginSites;

beforeAll(async () => {
  sites = await startLoginSites([...FORM_SITES.filter(({ name }) => name === 'classic'), SLOW_SITE]);
});
afterAll(() => sites.close());
beforeEach(() => sites.reset());

const right = (username: string, more: object = {}) =>
  byPassword(sites.url('classic'), username, PASSWORD, { useCache: false, ...more });

test('ten logins of an organization at a time, none of them before, all come to their end in one browser', async () => {
  const login = await startTestLogin();
  const users = Array.from({ length: 10 }, (_, number) => `user-${number}@example.com`);
  for (const user of users) sites.accounts('classic').passwords.set(user, PASSWORD);
  const browsers = new Set<number>();
  const answers = await Promise.all(
    users.map(async (user) => {
      const { status, body } = await login.post('/api/login', right(user, { timeoutSeconds: 180 }));
      for (const pid of login.fleet.pids()) browsers.add(pid);
      return [user, status, body['error']];
    }),
  );
  expect(answers).toEqual(users.map((user) => [user, 200, undefined]));
  // Theirs, and the prewarmed one for the next organization.
  expect(browsers.size).toBeLessThanOrEqual(2);
  await login.close();
});

test('a site that has been sent the password is waited for as long as the login has time', async () => {
  const login = await startTestLogin();
  const { status, body } = await login.post('/api/login', byPassword(sites.url('slow'), USER, PASSWORD));
  expect([status, body['details']]).toEqual([200, undefined]);
  expect(sites.accounts('slow').attempts).toEqual([{ username: USER, ok: true }]);
  await login.close();
});

test('a hanging browser ends its job in time, is killed, and delays no other job', async () => {
  const login = await startTestLogin();
  const other = await login.makeKey('other');
  expect((await login.post('/api/login', right(USER))).status).toBe(200);
  // The first one is this organization's.
  const hung = login.fleet.pids()[0]!;
  process.kill(hung, 'SIGSTOP');
  const [stuck, free] = await Promise.all([
    login.post('/api/login', right(USER, { timeoutSeconds: 5 })),
    login.post('/api/login', right(USER), other),
  ]);
  expect([stuck.status, stuck.body['error']]).toEqual([504, 'login_timeout']);
  expect([free.status, free.body['error']]).toEqual([200, undefined]);
  await expect.poll(() => login.fleet.pids()).not.toContain(hung);
  expect((await login.post('/api/login', right(USER))).status).toBe(200);
  await login.close();
});

/** The folders that a browser was told to use. */
function findFolders(pid: number): string[] {
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  const find = (name: string) => command.find((part) => part.startsWith(`--${name}=`))?.split('=')[1] ?? '';
  return [find('user-data-dir'), dirname(find('disk-cache-dir'))];
}

test('a browser leaves no folder behind, neither closed nor killed', async () => {
  const login = await startTestLogin({ fleet: { warm: true } });
  expect((await login.post('/api/login', right(USER))).status).toBe(200);
  await expect.poll(() => login.fleet.pids().length).toBe(2);
  const folders = login.fleet.pids().flatMap(findFolders);
  expect(folders.map((folder) => existsSync(folder))).toEqual([true, true, true, true]);
  process.kill(login.fleet.pids()[0]!, 'SIGKILL');
  await expect.poll(() => folders.slice(0, 2).map((folder) => existsSync(folder))).toEqual([false, false]);
  await login.close();
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, false, false, false]);
});

test('profiles that a killed service has left behind are removed, and no others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'capstan-leftovers-'));
  const make = (name: string, minutes: number) => {
    const path = join(folder, name);
    mkdirSync(path);
    const at = Date.now() / 1000 - minutes * 60;
    utimesSync(path, at, at);
    return path;
  };
  const old = make('playwright_chromiumdev_profile-old', 10);
  const files = make('capstan-browser-old', 10);
  const young = make('playwright_chromiumdev_profile-young', 0);
  const foreign = make('something-else', 10);
  await removeLeftovers(pino({ level: 'silent' }), folder);
  expect([old, files, young, foreign].map((path) => existsSync(path))).toEqual([false, false, true, true]);
  rmSync(folder, { recursive: true });
});
