import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRestarts } from '../support/restarts.ts';
import type { Restarts } from '../support/restarts.ts';

let restarts: Restarts;
let url: string;
beforeAll(async () => {
  restarts = await openRestarts('unknown-paths');
  url = (await restarts.start()).url;
});
afterAll(() => restarts?.close());

const cases = [
  ['GET', '/v1/nothing', 404, ['error', 'message']],
  ['GET', '/api/nothing', 404, ['error', 'message', 'request_id']],
  ['PATCH', '/api/generations', 405, ['error', 'message', 'request_id']],
  ['GET', '/api/login', 405, ['error', 'message', 'requestId']],
  ['GET', '/api/credentials/one/two', 404, ['error', 'message', 'requestId']],
] as const;

test.each(cases)(
  '%s %s in the role all is answered %i in the shape of its service',
  async (method, path, status, keys) => {
    const response = await fetch(`${url}${path}`, { method });
    expect(response.status).toBe(status);
    expect(Object.keys((await response.json()) as object).toSorted()).toEqual(keys);
  },
);
