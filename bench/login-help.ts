// Measures the time from a person's click on the help page of a login to the picture of the result.
// Needs: Chromium (make services).
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoginSites, PASSWORD, USER } from '../test/support/login-sites/server.ts';
import type { SiteKind } from '../test/support/login-sites/server.ts';
import { page } from '../test/support/login-sites/server.ts';
import { byPassword, startTestLogin } from '../test/login/harness.ts';
import { requireChromium } from './support/needs.ts';

const ROUNDS = 100;
const PAUSE_MS = 150;

/** A bot wall that only changes its color at every click. */
const WALL: SiteKind = {
  name: 'color',
  serve: () => ({
    body: page(
      'Just a moment...',
      `<p>Checking your browser before you access the site.</p><div class="cf-turnstile" data-sitekey="x"></div><script>
      let on = false;
      addEventListener('mousedown', () => { on = !on; document.body.style.background = on ? '#123' : '#edc'; });</script>`,
    ),
  }),
};

/** Resolves with each picture of a stream as it arrives. */
async function* readFrames(url: string): AsyncGenerator<void> {
  const response = await fetch(url);
  let rest = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (rest + chunk).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) if (event.startsWith('event: frame')) yield;
  }
}

requireChromium();
const sites = await startLoginSites([WALL]);
const login = await startTestLogin();
const { body } = await login.post('/api/logins', byPassword(sites.url('color'), USER, PASSWORD));
const read = async () => (await login.call('GET', `/api/logins/${String(body['id'])}`)).body;
let record = await read();
while (record['state'] === 'running') {
  await sleep(100);
  record = await read();
}
const helpUrl = String(record['helpUrl']);

let onFrame: () => void = () => undefined;
void (async () => {
  const frames = readFrames(`${helpUrl}/screen`);
  while ((await frames.next()).done !== true) onFrame();
})().catch(() => undefined);
await new Promise<void>((resolve) => (onFrame = resolve));
await sleep(2000);

const times: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const shown = new Promise<void>((resolve) => (onFrame = resolve));
  const at = { x: 0.5, y: 0.5, button: 'left', clicks: 1 };
  const start = performance.now();
  const sent = fetch(`${helpUrl}/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ events: [{ type: 'down', ...at }] }),
  });
  await shown;
  times.push(performance.now() - start);
  await sent;
  await fetch(`${helpUrl}/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ events: [{ type: 'up', ...at }] }),
  });
  await sleep(PAUSE_MS);
}
const sorted = times.toSorted((left, right) => left - right);
const quantile = (part: number) => (sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(0);
console.log(
  `click to picture: median ${quantile(0.5)} ms, p95 ${quantile(0.95)} ms, worst ${quantile(1)} ms of ${ROUNDS}`,
);
await login.call('DELETE', `/api/logins/${String(body['id'])}`);
await login.close();
await sites.close();
