import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { McpTest } from '../../src/agents/contract/installations.ts';
import type { Vault } from '../../src/agents/contract/vaults.ts';
import { typesOf } from '../support/chat.ts';
import { ECHO, startTestMcp } from '../support/mcp/server.ts';
import type { TestMcp } from '../support/mcp/server.ts';
import { callTool, callTools, readChat, say, toolNames } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { ALLOW } from '../support/threads.ts';

const CANARY = 'c4n4ry-mcp-token-7731';

let service: Service;
let server: TestMcp;
beforeAll(async () => {
  service = await startService();
  server = await startTestMcp();
  server.tools = {
    tools: [
      { ...ECHO, annotations: { readOnlyHint: true } },
      { name: 'wipe', description: 'Wipes', inputSchema: { type: 'object' } },
      { name: 'hidden', inputSchema: { type: 'object' } },
    ],
  };
});
afterAll(async () => {
  await service.close();
  server.close();
});

/** An agent with the server, all tools allowed except `wipe`, which asks, and a credential for it. */
async function makeAgent(fields: object = {}): Promise<Agent> {
  const { api } = service;
  const agent = await api.createAgent({
    mcpServers: [
      { type: 'url', name: 'files', url: server.url },
      { type: 'url', name: 'down', url: 'http://127.0.0.1:1/mcp' },
    ],
    tools: [
      { type: 'mcp_toolset', mcpServerName: 'down' },
      {
        type: 'mcp_toolset',
        mcpServerName: 'files',
        defaultConfig: { permissionPolicy: { type: 'always_allow' } },
        configs: [
          { name: 'wipe', permissionPolicy: { type: 'always_ask' } },
          { name: 'hidden', enabled: false },
        ],
      },
    ],
    ...fields,
  });
  const vault = (await api.call<Vault>('POST', '/v1/vaults', { displayName: 'x' })).body;
  const auth = { type: 'static_bearer', mcpServerUrl: server.url, token: CANARY };
  await api.call('POST', `/v1/vaults/${vault.id}/credentials`, { displayName: 'x', auth });
  await api.call('PUT', `/v1/agents/${agent.id}/vaults`, { vaultIds: [vault.id] });
  return agent;
}

const refuseListing: TestMcp['intercept'] = ({ message, reply }) => {
  if (message.method !== 'tools/list') return false;
  reply.writeHead(500).end();
  return true;
};

describe('a turn with MCP servers', () => {
  it('offers the enabled tools, runs one and tells of it', async () => {
    const chat = await service.api.openChat(await makeAgent());
    service.model.play(callTool('files__echo', { text: 'hello' }), say('done'));
    await chat.run('Say hello.');
    expect(toolNames(service.model.requests[0]!)).toEqual(['files__echo', 'files__wipe']);
    expect(readChat(service.model.requests[1]!).at(-1)).toBe('tool: hello');
    const missing = chat.frames.filter(({ type }) => type === 'mcp.server_unavailable');
    expect(missing.map(({ payload }) => payload)).toEqual([
      {
        type: 'mcp.server_unavailable',
        serverName: 'down',
        reason: expect.stringContaining('could not be reached'),
      },
    ]);
    expect(readChat(service.model.requests[0]!)[0]).toContain('MCP servers are unavailable at the moment');
    const events = await chat.list();
    expect(typesOf(events)).toEqual([
      'user.message',
      'session.status_running',
      'agent.mcp_tool_use',
      'agent.mcp_tool_result',
      'agent.message',
      'session.status_idle',
    ]);
    const [use, result] = [events[2]!, events[3]!];
    expect(use.payload).toEqual({
      type: 'agent.mcp_tool_use',
      id: use.id,
      name: 'echo',
      mcp_server_name: 'files',
      toolset: null,
      input: { text: 'hello' },
      evaluated_permission: 'allow',
    });
    expect(result.payload).toEqual({
      type: 'agent.mcp_tool_result',
      tool_use_id: use.id,
      mcp_tool_use_id: use.id,
      name: 'echo',
      mcp_server_name: 'files',
      content: [{ type: 'text', text: 'hello' }],
      is_error: false,
      duration_ms: expect.any(Number),
    });
    chat.close();
  });

  it('shows in the session which servers are there, and notices within a turn that one is back', async () => {
    const chat = await service.api.openChat(await makeAgent());
    server.intercept = refuseListing;
    service.model.play(say('no tools'));
    await chat.run('Look.');
    const down = { name: 'down', status: 'unavailable', reason: expect.stringContaining('could not be reached') };
    const failing = { name: 'files', status: 'unavailable', reason: expect.stringContaining('HTTP 500') };
    expect((await chat.session()).mcpServers).toEqual([down, failing]);
    server.intercept = () => false;
    service.model.play(say('tools'));
    await chat.run('Look again.');
    expect(toolNames(service.model.requests.at(-1)!)).toEqual(['files__echo', 'files__wipe']);
    expect((await chat.session()).mcpServers).toEqual([down, { name: 'files', status: 'connected', reason: null }]);
    chat.close();
  });

  it('offers the tools of a server again right after a test of it succeeded', async () => {
    const agent = await makeAgent();
    const chat = await service.api.openChat(agent);
    server.intercept = refuseListing;
    service.model.play(say('no tools'));
    await chat.run('Look.');
    expect(toolNames(service.model.requests.at(-1)!)).toEqual([]);
    server.intercept = () => false;
    const test = await service.api.call<McpTest>('POST', `/v1/agents/${agent.id}/mcp/files/test`);
    expect(test.body.ok).toBe(true);
    service.model.play(say('tools'));
    await chat.run('Look again.');
    expect(toolNames(service.model.requests.at(-1)!)).toEqual(['files__echo', 'files__wipe']);
    chat.close();
  });

  it('gives subagents its tools, as far as they are allowed', async () => {
    const agent = await makeAgent();
    const tools = [...agent.tools, { type: 'agent_toolset', configs: [{ name: 'delegation', ...ALLOW }] }];
    const updated = await service.api.call<Agent>('PATCH', `/v1/agents/${agent.id}`, { tools, expectedVersion: 0 });
    expect(updated.status).toBe(200);
    await service.api.call('PUT', `/v1/agents/${agent.id}/production`, { version: 1 });
    const chat = await service.api.openChat(agent);
    service.model.play(
      callTool('delegate_task', { goal: 'Say hello.', toolsets: ['files'] }),
      callTools([
        ['files__echo', { text: 'hello' }],
        ['files__wipe', {}],
      ]),
      say('done'),
      say('ok'),
    );
    await chat.run('Delegate.');
    expect(toolNames(service.model.requests[1]!)).toEqual(['files__echo', 'files__wipe']);
    const events = await chat.list();
    const thread_id = events.find(({ type }) => type === 'agent.thread_message_sent')?.payload['thread_id'];
    const of = (type: string) => events.filter((event) => event.type === type).map(({ payload }) => payload);
    expect(of('agent.mcp_tool_use')).toMatchObject([
      { name: 'echo', mcp_server_name: 'files', evaluated_permission: 'allow', thread_id },
      { name: 'wipe', evaluated_permission: 'ask', thread_id },
    ]);
    expect(of('agent.mcp_tool_result')).toMatchObject([
      { name: 'echo', is_error: false, content: [{ text: 'hello' }], thread_id },
      { name: 'wipe', is_error: true, thread_id },
    ]);
    chat.close();
  });

  it('shows a call while it is written', async () => {
    const chat = await service.api.openChat(await makeAgent());
    service.model.play({ ...callTool('files__echo', { text: 'x'.repeat(500) }), chunkBytes: 100, gapMs: 2 }, say('ok'));
    await chat.run('Say it.');
    const previews = chat.frames.filter((frame) => frame.status === 'streaming');
    expect(previews.length).toBeGreaterThan(0);
    expect(previews[0]?.payload).toMatchObject({
      type: 'agent.mcp_tool_use',
      name: 'echo',
      mcp_server_name: 'files',
    });
    chat.close();
  });

  it('asks for one tool, by server and tool, and keeps a standing approval under that name', async () => {
    const agent = await makeAgent();
    const chat = await service.api.openChat(agent);
    server.call = (name) => ({ content: [{ type: 'text', text: `did ${name}` }] });
    service.model.play(callTool('files__wipe', {}), say('done'), callTool('files__wipe', {}), say('again'));
    await chat.prompt('Wipe it.');
    const ask = await chat.next('agent.approval_request');
    expect(ask.payload).toMatchObject({ kind: 'mcp', tool_name: 'wipe', mcp_server_name: 'files', toolset: null });
    await chat.next('session.status_idle');
    await chat.send({ type: 'user.approval_response', approval_id: ask.id, result: 'allow', scope: 'always' });
    const result = await chat.next('agent.mcp_tool_result');
    expect(result.payload).toMatchObject({ content: [{ text: 'did wipe' }], is_error: false });
    await chat.next('session.status_idle');
    const path = `/v1/agents/${agent.id}/users/anna/approvals`;
    const approvals = (await service.api.call<{ data: { tool: string }[] }>('GET', path)).body.data;
    expect(approvals.map(({ tool }) => tool)).toEqual(['files/wipe']);
    await chat.run('Wipe it again.');
    expect(chat.frames.filter(({ type }) => type === 'agent.approval_request')).toHaveLength(1);
    const revoked = await service.api.call('DELETE', `${path}/${encodeURIComponent('files/wipe')}`);
    expect(revoked.status).toBe(200);
    chat.close();
  });

  it('denies disabled and unknown tools without a call', async () => {
    const chat = await service.api.openChat(await makeAgent());
    const before = server.asked.filter(({ method }) => method === 'tools/call').length;
    service.model.play(
      callTools([
        ['files__hidden', {}],
        ['files__none', {}],
        ['down__x', {}],
      ]),
      say('ok'),
    );
    await chat.run('Try.');
    const uses = (await chat.list()).filter(({ type }) => type.endsWith('tool_use'));
    expect(uses.map(({ payload }) => payload['evaluated_permission'])).toEqual(['deny', 'deny', 'deny']);
    expect(server.asked.filter(({ method }) => method === 'tools/call')).toHaveLength(before);
    chat.close();
  });

  it('continues if the server fails, and ends at once on an interrupt', async () => {
    const chat = await service.api.openChat(await makeAgent());
    server.call = (_name, _input, { reply }) => void reply.writeHead(500).end(CANARY);
    service.model.play(callTool('files__echo', { text: 'x' }), say('it failed'));
    await chat.run('Try.');
    const failed = (await chat.list()).find(({ type }) => type === 'agent.mcp_tool_result');
    expect(failed?.payload).toMatchObject({ is_error: true });
    const called = new Promise<void>((resolve) => {
      server.call = () => resolve();
    });
    service.model.play(callTool('files__echo', { text: 'x' }));
    await chat.prompt('Try again.');
    await called;
    await chat.send({ type: 'user.interrupt' });
    const idle = await chat.next((frame) => frame.payload['interrupted'] === true);
    expect(idle.payload['stop_reason']).toEqual({ type: 'end_turn' });
    const last = (await chat.list()).findLast(({ type }) => type === 'agent.mcp_tool_result');
    expect(JSON.stringify(last?.payload['content'])).toContain('Interrupted');
    chat.close();
  });

  it('lets no secret of a vault into events, prompts and answers', async () => {
    const agent = await makeAgent();
    const chat = await service.api.openChat(agent);
    server.call = (_name, _input, { headers }) => ({
      content: [{ type: 'text', text: JSON.stringify(headers) }],
    });
    service.model.play(callTool('files__echo', { text: 'x' }), say('done'));
    await chat.run('What did I send?');
    expect(server.asked.at(-1)?.authorization).toBe(`Bearer ${CANARY}`);
    const test = await service.api.call<McpTest>('POST', `/v1/agents/${agent.id}/mcp/files/test`);
    const seen = [await chat.list(), chat.frames, service.model.requests, test.body];
    expect(JSON.stringify(seen)).not.toContain(CANARY);
    chat.close();
  });
});

describe('a test of a server', () => {
  it('lists its tools and its connection', async () => {
    const agent = await makeAgent();
    const { status, body } = await service.api.call<McpTest>('POST', `/v1/agents/${agent.id}/mcp/files/test`);
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'mcp.test',
      serverName: 'files',
      status: 'connected',
      ok: true,
      latencyMs: expect.any(Number),
      protocolVersion: '2025-06-18',
      tools: [
        { name: 'echo', description: 'Says it again' },
        { name: 'wipe', description: 'Wipes' },
        { name: 'hidden', description: '' },
      ],
      error: null,
    });
  });

  it('tells why it does not work; an unknown server is not found', async () => {
    const agent = await makeAgent();
    const down = await service.api.call<McpTest>('POST', `/v1/agents/${agent.id}/mcp/down/test`);
    expect([down.status, down.body.ok, down.body.status]).toEqual([200, false, 'public']);
    expect(down.body.error).toContain('could not be reached');
    expect((await service.api.call('POST', `/v1/agents/${agent.id}/mcp/none/test`)).status).toBe(404);
  });
});
