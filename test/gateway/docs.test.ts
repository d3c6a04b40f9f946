import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('the document and its page are open, and are of this service alone', async () => {
  const read = async (path: string) => {
    const response = await fetch(`${gateway.url}${path}`);
    return [response.status, response.headers.get('content-type'), await response.text()] as const;
  };
  const own = await read('/openapi/inference.json');
  expect(own.slice(0, 2)).toEqual([200, 'application/json; charset=utf-8']);
  expect(JSON.parse(own[2])).toMatchObject({ openapi: '3.1.0', info: { title: 'Capstan inference gateway' } });
  expect((await read('/openapi.json'))[2]).toBe(own[2]);
  expect((await read('/openapi/agents.json'))[0]).toBe(404);
  const page = await read('/docs');
  expect(page.slice(0, 2)).toEqual([200, 'text/html; charset=utf-8']);
  expect(page[2]).toContain('<article id="createChatCompletion">');
});
