import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ApiKeyCreated } from '../../src/platform/contract/keys.ts';
import type { OpenAction } from '../../src/agents/contract/pending-actions.ts';
import { allow } from '../support/chat.ts';
import { callTool, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const policy = (permissionPolicy: object) => ({
  tools: [{ type: 'agent_toolset', defaultConfig: { enabled: true, permissionPolicy } }],
});

async function openWaiting(permissionPolicy: object, fields: object = {}) {
  const agent = await service.api.createAgent(policy({ type: 'always_ask', ...permissionPolicy }));
  const chat = await service.api.openChat(agent, fields);
  service.model.play(callTool('write_file', { path: 'a.txt', content: 'a' }), say('Done.'));
  await chat.prompt('Write.');
  const request = await chat.next('agent.approval_request');
  await chat.next('session.status_idle');
  return { chat, request };
}

async function makeKey(scopes: string[]) {
  const { body } = await service.api.call<ApiKeyCreated>('POST', '/v1/api-keys', { name: 'other', scopes });
  return (path: string, events: object[]) =>
    fetch(`${service.api.url}/v1/sessions/${path}/events`, {
      method: 'POST',
      headers: { 'x-api-key': body.key, 'content-type': 'application/json' },
      body: JSON.stringify({ events }),
    });
}

it('only approvers named by the policy may answer an approval', async () => {
  const approvers = ['role:admin', 'group:sre'];
  const { chat, request } = await openWaiting({ approvers }, { yoloMode: true });
  expect(request.payload).toMatchObject({ approvers });
  const action = await service.api.call<OpenAction>('GET', `/v1/pending-actions/${request.id}`);
  expect(action.body).toMatchObject({ approvers, separationOfDuties: false });
  const send = await makeKey(['agents:read', 'agents:write']);
  const refused = await send(chat.id, [allow(request.id)]);
  expect([refused.status, await refused.json()]).toEqual([
    403,
    { error: 'forbidden', message: 'This approval can be answered by role:admin, group:sre only.' },
  ]);
  const audit = await service.api.call<{ data: object[] }>('GET', `/v1/audit?action=sendEvents&limit=1`);
  expect(audit.body.data[0]).toMatchObject({
    outcome: 'failure',
    resource: { type: 'session', id: chat.id },
    changes: { reason: expect.stringContaining('role:admin') as string },
  });
  expect((await service.api.call('GET', '/v1/audit/verify')).body).toMatchObject({ brokenAt: null });
  expect((await chat.send(allow(request.id))).status).toBe(200);
  expect((await chat.next('agent.tool_result')).payload['is_error']).toBe(false);
  chat.close();
});

it('the requester may not approve under separation of duties', async () => {
  const { chat, request } = await openWaiting({ separationOfDuties: true });
  expect(request.payload).toMatchObject({ separation_of_duties: true });
  const refused = await chat.send(allow(request.id));
  expect([refused.status, refused.body]).toEqual([
    403,
    { error: 'forbidden', message: 'Whoever asked for this call may not answer its approval.' },
  ]);
  const send = await makeKey(['agents:approve', 'agents:read']);
  expect((await send(chat.id, [allow(request.id)])).status).toBe(200);
  expect((await chat.next('agent.tool_result')).payload['is_error']).toBe(false);
  chat.close();
});

it('approvers belong to policies that ask', async () => {
  const fields = { name: 'Ada', modelName: 'acme/small', systemPrompt: '', skills: [] };
  const create = (permissionPolicy: object) =>
    service.api.call('POST', '/v1/agents', { ...fields, ...policy(permissionPolicy) });
  expect((await create({ type: 'always_allow', approvers: ['role:admin'] })).status).toBe(400);
  expect((await create({ type: 'always_ask', approvers: ['admins'] })).status).toBe(400);
  expect((await create({ type: 'always_ask', approvers: ['user:mia@acme.example'] })).status).toBe(201);
});
