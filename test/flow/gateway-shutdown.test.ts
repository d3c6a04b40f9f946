import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findShared, prepareShared } from '../support/crash/backends.ts';
import { spawnServer } from '../support/crash/server.ts';

const KEY = 'key-of-the-gateway-that-ends';
const services = await findShared();

/** A provider whose answers begin with one word; the rest is up to the test. */
async function startProvider() {
  const answers: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(buildFrame({ delta: { role: 'assistant', content: 'Once ' } }));
    answers.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    finish() {
      for (const response of answers) {
        response.write(buildFrame({ delta: { content: 'more.' } }));
        response.end(`${buildFrame({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`);
      }
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const buildFrame = (choice: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`;

describe.runIf(services)('a gateway that is ended', () => {
  async function openStream(env: Record<string, string>) {
    const prepared = await prepareShared(services);
    const provider = await startProvider();
    const server = spawnServer({
      role: 'gateway',
      env: { ...prepared.env, CAPSTAN_API_KEY: KEY, OPENAI_API_KEY: 'x', OPENAI_BASE_URL: provider.url, ...env },
    });
    onTestFinished(async () => {
      server.signal('SIGKILL');
      await server.ended;
      provider.close();
      await prepared.close();
    });
    const ready = await server.ready;
    if (!('url' in ready)) throw new Error(server.output());
    const response = await fetch(`${ready.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai/gpt-5', stream: true, messages: [{ role: 'user', content: 'Tell.' }] }),
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = '';
    while (!text.includes('Once')) text += decoder.decode((await reader.read()).value, { stream: true });
    const readRest = async () => {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        text += decoder.decode(part.value, { stream: true });
      }
      return text;
    };
    return { server, url: ready.url, provider, readRest };
  }

  test('lets the stream of an answer come to its end', async () => {
    const { server, url, provider, readRest } = await openStream({ CAPSTAN_SHUTDOWN_SECONDS: '3600' });
    server.signal('SIGTERM');
    // It accepts no connection any more.
    await expect.poll(() => fetch(url).catch(() => 'refused')).toBe('refused');
    provider.finish();
    expect(await readRest()).toMatch(/more\.[^]*data: \[DONE\]/);
    expect(await server.ended).toEqual({ code: 0, signal: null });
  });

  test('ends what takes too long with an error in the stream, before its own time is up', async () => {
    const { server, readRest } = await openStream({ CAPSTAN_SHUTDOWN_SECONDS: '5' });
    server.signal('SIGTERM');
    expect(await readRest()).toContain('shutting down');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  });
});
