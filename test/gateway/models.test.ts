import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/platform/contract/version.ts';
import { shareGateway } from './harness.ts';

const gateway = shareGateway();

describe('the models', () => {
  it.each(['/models', '/v1/models'])('are listed at %s for clients of every format', async (path) => {
    expect(await (await gateway.get(path)).json()).toEqual({
      object: 'list',
      data: [
        expect.objectContaining({
          id: 'blind/small',
          object: 'model',
          type: 'model',
          owned_by: 'blind',
          context_window: 4000,
        }),
        expect.objectContaining({ id: 'script/demo' }),
      ],
      has_more: false,
      first_id: 'blind/small',
      last_id: 'script/demo',
    });
    expect((await gateway.get(path, {})).status).toBe(401);
  });

  it.each(['/models/blind/small', '/v1/models/blind/small', '/v1/models/blind%2Fsmall'])(
    'are found at %s',
    async (path) => {
      expect(await (await gateway.get(path)).json()).toMatchObject({
        id: 'blind/small',
        display_name: 'blind/small',
        created_at: expect.stringMatching(/^20/),
        modalities: { input: ['text'], output: ['text'] },
      });
    },
  );

  it('are as old as their names say', async () => {
    const response = await gateway.get('/v1/models/chat/claude-sonnet-4-5-20250929');
    const created_at = '2025-09-29T00:00:00.000Z';
    expect(await response.json()).toMatchObject({ created: Date.parse(created_at) / 1000, created_at });
  });

  it("are missed in the shape of the caller's SDK", async () => {
    const headers = { 'x-api-key': gateway.key, 'anthropic-version': '2023-06-01' };
    const missed = await gateway.get('/v1/models/nobody/none', headers);
    expect([missed.status, await missed.json()]).toMatchObject([
      404,
      { type: 'error', error: { type: 'not_found_error' } },
    ]);
    const stranger = await gateway.get('/v1/models', { ...headers, 'x-api-key': 'wrong' });
    expect(await stranger.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
  });

  it('are not found elsewhere', async () => {
    const response = await gateway.get('/v1/models/nobody/none');
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'model_not_found' } }]);
  });

  it('need no key to see that the gateway lives', async () => {
    expect(await (await gateway.get('/health', {})).json()).toEqual({ status: 'ok' });
    expect(await (await gateway.get('/', {})).json()).toEqual({
      name: 'Capstan',
      version: VERSION,
      docs: '/docs',
      openapi: '/openapi.json',
    });
  });
});
