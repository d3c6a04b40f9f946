import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildApi } from '../support/chat.ts';
import { allowAll } from '../support/chat.ts';
import type { Api } from '../support/chat.ts';
import { makeScratch } from '../support/scratch.ts';

const KEY = 'cap_test_key_0123456789';
const MIB = 1024 * 1024;
const SIZE = 40 * MIB;

let server: ChildProcess;
let api: Api;
const folder = makeScratch('flow-files');

beforeAll(async () => {
  server = spawn(process.execPath, ['src/main.ts', 'all'], {
    env: {
      PATH: process.env['PATH'],
      CAPSTAN_DATA_DIR: folder,
      CAPSTAN_PORT: '0',
      CAPSTAN_FSYNC: 'off',
      CAPSTAN_API_KEY: KEY,
      CAPSTAN_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    server.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const address = /listens on (\S+)/.exec(text)?.[1];
      if (address !== undefined) resolve(address);
    });
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  api = buildApi(url, KEY, 'script/demo');
});
afterAll(async () => {
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(folder, { recursive: true, force: true });
});

test('what a turn writes is read through the files API, and the other way round', async () => {
  const agent = await api.createAgent({ tools: allowAll });
  const prefix = `/v1/agents/${agent.id}/users/anna`;
  const written = await api.call('PUT', `${prefix}/files/content`, { path: 'in/task.txt', content: 'from the caller' });
  expect(written.status).toBe(200);
  const chat = await api.openChat(agent);
  await chat.run(
    'write out/answer.txt: from the agent\nrun: cat in/task.txt > copied.txt; echo done by a command > made.txt',
  );
  const read = async (path: string) =>
    (await api.call<{ content: string }>('GET', `${prefix}/files/content?path=${path}`)).body.content;
  expect(await read('out/answer.txt')).toBe('from the agent');
  expect(await read('copied.txt')).toBe('from the caller');
  expect(await read('made.txt')).toBe('done by a command\n');
  await api.call('POST', `${prefix}/files/move`, { from: 'made.txt', to: 'moved/made.txt' });
  await chat.run('run: cat moved/made.txt; ls made.txt');
  const result = (await chat.list()).filter((event) => event.type === 'agent.tool_result').at(-1);
  expect(JSON.stringify(result?.payload)).toContain('done by a command');
  expect(JSON.stringify(result?.payload)).toContain('No such file');
  chat.close();
});

const readMemory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;

test('files of 40 MiB pass through the server without being held', async () => {
  const agent = await api.createAgent();
  const target = (path: string) =>
    `${api.url}/v1/agents/${agent.id}/users/bob/files/content?overwrite=true&path=${path}`;
  const piece = new Uint8Array(MIB).fill(65);
  const body = () => {
    let left = SIZE;
    return new ReadableStream({
      pull(controller) {
        if (left > 0) controller.enqueue(piece);
        else controller.close();
        left -= MIB;
      },
    });
  };
  const headers = { 'x-api-key': KEY, 'content-type': 'application/octet-stream' };
  const put = async (path: string) => {
    const init = { method: 'PUT', headers, body: body(), duplex: 'half' } as RequestInit;
    return (await fetch(target(path), init)).status;
  };
  const drain = async (path: string, accept: string) => {
    const response = await fetch(target(path), { headers: { 'x-api-key': KEY, accept } });
    let size = 0;
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) size += chunk.length;
    return size;
  };
  expect(await put('warm')).toBe(200);
  expect(await drain('warm', 'application/octet-stream')).toBe(SIZE);
  const before = readMemory();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, readMemory())), 20);
  const names = Array.from({ length: 16 }, (_, index) => `f${index}`);
  expect(await Promise.all(names.map(put))).toEqual(names.map(() => 200));
  expect(await Promise.all(names.map((name) => drain(name, 'application/octet-stream')))).toEqual(
    names.map(() => SIZE),
  );
  for (const size of await Promise.all(names.map((name) => drain(name, 'application/json'))))
    expect(size).toBeGreaterThan(SIZE);
  clearInterval(timer);
  // 16 concurrent transfers are 640 MiB, so a server that buffers them needs more. Measured: 110 to 180 MiB.
  expect(peak - before).toBeLessThan((names.length * SIZE) / MIB);
}, 120_000);
