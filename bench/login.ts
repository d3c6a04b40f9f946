// Measures website logins per second and their cost, compared with a script written for the one site.
// Needs: Chromium (make services).
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { FORM_SITES } from '../test/support/login-sites/forms.ts';
import { PASSWORD, USER, startLoginSites } from '../test/support/login-sites/server.ts';
import { byPassword, startTestLogin } from '../test/login/harness.ts';
import { requireChromium } from './support/needs.ts';

const ROUNDS = 15;
const SETTLE_MS = 500;

const median = (values: number[]) => values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
const show = (name: string, values: number[]) =>
  console.log(
    `${name}: median ${median(values).toFixed(0)} ms, worst ${Math.max(...values).toFixed(0)} ms of ${values.length}`,
  );

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Proportional memory of all processes of these groups in MiB: shared memory counts once. */
function readMemory(groups: readonly number[]): number {
  let kilobytes = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const group = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
      if (!groups.includes(group)) continue;
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {
      // It ended meanwhile.
    }
  }
  return kilobytes / 1024;
}

const sites = await startLoginSites(FORM_SITES.filter(({ name }) => name === 'classic'));
const program = requireChromium();
const login = await startTestLogin({ fleet: { warm: true } });
const url = sites.url('classic');
const signIn = async (useCache: boolean, user = USER) => {
  const body = byPassword(url, user, PASSWORD, { useCache, timeoutSeconds: 180 });
  const answer = await login.post('/api/login', body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
};

// The peer: a script written for this one site, in a running browser, with a new context each time.
const browser = await chromium.launch({ executablePath: program, chromiumSandbox: process.getuid?.() !== 0 });
const byHand = async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.fill('[name=username]', USER);
  await page.fill('[name=password]', PASSWORD);
  await page.click('button');
  await page.waitForURL('**/account');
  await context.storageState();
  await context.close();
};

await signIn(false);
await byHand();
const own: number[] = [];
const hand: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  own.push(await time(() => signIn(false)));
  // The answer arrives before its browser context is closed; the script must not pay for that.
  await sleep(SETTLE_MS);
  hand.push(await time(byHand));
}
await browser.close();
show('a login, cold: new context, proven', own);
show('the same by a Playwright script of its own', hand);
console.log(`ratio ${(median(own) / median(hand)).toFixed(2)}`);

await signIn(true);
const cached: number[] = [];
for (let round = 0; round < 200; round += 1) cached.push(await time(() => signIn(true)));
show('a login, from the cache', cached);

let peak = 0;
const meter = setInterval(() => (peak = Math.max(peak, readMemory([...login.fleet.pids()]))), 250);
const users = Array.from({ length: 10 }, (_, number) => `user-${number}@example.com`);
for (const user of users) sites.accounts('classic').passwords.set(user, PASSWORD);
const ten = await time(() => Promise.all(users.map((user) => signIn(false, user))));
clearInterval(meter);
console.log(`ten logins at a time: ${ten.toFixed(0)} ms, browsers at most ${peak.toFixed(0)} MiB`);

await login.close();
await sites.close();
