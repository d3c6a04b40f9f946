import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildApi, prompt, textOf } from '../support/chat.ts';
import type { Api } from '../support/chat.ts';
import { spawnServer } from '../support/crash/server.ts';
import type { ServerProcess } from '../support/crash/server.ts';
import { makeScratch } from '../support/scratch.ts';
import { ALLOW, of } from '../support/threads.ts';
import { probeVideo } from './harness.ts';

const KEY = 'cap_video_turn_0123456789';

/** The product as it is started, with nothing but what it embeds. */
const folder = makeScratch('video-turn');
let server: ServerProcess;
let api: Api;
beforeAll(async () => {
  server = spawnServer({
    role: 'all',
    env: { CAPSTAN_DATA_DIR: folder, CAPSTAN_API_KEY: KEY, CAPSTAN_LOG_LEVEL: 'error' },
  });
  const ready = await server.ready;
  if (!('url' in ready)) throw new Error(server.output());
  api = buildApi(ready.url, KEY, 'script/demo');
});
afterAll(async () => {
  server.signal('SIGTERM');
  await server.ended;
  rmSync(folder, { recursive: true, force: true });
});

it('an agent makes a video in a turn, which is rendered, charged and to be watched', async () => {
  const before = (await api.call<{ data: { balance: number } }>('GET', '/api/credits')).body.data.balance;
  const tools = [
    { type: 'agent_toolset', defaultConfig: ALLOW, configs: [{ name: 'video', enabled: true, ...ALLOW }] },
  ];
  const chat = await api.openChat(await api.createAgent({ tools }));
  const wanted = { prompt: 'A lighthouse at night', duration: '1s', resolution: '480p', aspect_ratio: '1:1' };
  await chat.send(prompt(`call generate_video ${JSON.stringify(wanted)}`));
  await expect.poll(async () => (await chat.session()).status, { interval: 250 }).toBe('idle');

  const events = await chat.list();
  expect(of(events, 'agent.tool_use')[0]?.payload).toMatchObject({ name: 'generate_video', toolset: 'video' });
  const [result] = of(events, 'agent.tool_result');
  expect(result?.payload).toMatchObject({ name: 'generate_video', is_error: false });
  const made = JSON.parse(textOf(result)) as { success: boolean; video_url: string; share_url: string };
  expect(made).toMatchObject({ success: true, duration: '1s', width: 480, height: 480 });

  const page = await fetch(made.share_url);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('A lighthouse at night') as string]);
  const bytes = new Uint8Array(await (await fetch(made.video_url)).arrayBuffer());
  const { streams } = await probeVideo(bytes);
  expect(streams[0]).toMatchObject({ codec_name: 'h264', width: 480, height: 480 });
  const { body } = await api.call<{ data: unknown }>('GET', '/api/credits');
  expect(body.data).toEqual({ balance: before - 1, reserved: 0 });
  chat.close();
});
