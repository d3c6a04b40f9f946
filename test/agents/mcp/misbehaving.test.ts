import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Mcp } from '../../../src/agents/mcp/mcp.ts';
import { buildTools } from '../../../src/agents/mcp/tools.ts';
import { openEmbeddedDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';
import { ECHO, startTestMcp } from '../../support/mcp/server.ts';
import type { TestMcp } from '../../support/mcp/server.ts';
import { openTestVaults } from '../../support/vaults.ts';

let database: TestDatabase;
let server: TestMcp;
let mcp: Mcp;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
});
beforeEach(async () => {
  server = await startTestMcp();
  ({ mcp } = openTestVaults(database.db, { listTimeoutMs: 3000 }));
});
afterEach(async () => {
  server.close();
  await mcp.close();
});
afterAll(() => database.close());

const ref = (url = server.url) => ({ agentId: 'agt_none', name: 'test', url });
const call = (tool: string, input: Record<string, unknown> = {}, signal = new AbortController().signal) =>
  mcp.call({ server: ref(), scope: 'ses_1', operation: 'tool', tool, input, signal });
const errorOf = (outcome: { content: string; isError: boolean }) => {
  expect(outcome.isError).toBe(true);
  return (JSON.parse(outcome.content) as { error: string }).error;
};

describe('a server that', () => {
  it('never answers a call fails that call in time, and no other', async () => {
    server.call = (name, _input) => (name === 'slow' ? undefined : { content: [{ type: 'text', text: 'quick' }] });
    const [slow, quick] = await Promise.all([call('slow'), call('quick')]);
    expect(errorOf(slow)).toContain('did not answer in time');
    expect(quick).toEqual({ content: 'quick', isError: false });
  });

  it.each(['json', 'stream'])('answers with 10 MB as %s fails that call, and no other', async (form) => {
    const text = 'x'.repeat(10_000_000);
    server.call = (name, _input, { message, reply }) => {
      if (name === 'small') return { content: [{ type: 'text', text: 'small' }] };
      const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { content: [{ type: 'text', text }] } });
      reply.writeHead(200, { 'content-type': form === 'json' ? 'application/json' : 'text/event-stream' });
      reply.end(form === 'json' ? body : `data: ${body}\n\n`);
      return undefined;
    };
    const [big, small] = await Promise.all([call('big'), call('small')]);
    expect(errorOf(big)).toContain('larger than');
    expect(small).toEqual({ content: 'small', isError: false });
    expect(await call('small')).toEqual({ content: 'small', isError: false });
  });

  it('lies about its schemas keeps the tools that can be understood', async () => {
    server.tools = {
      tools: [
        null,
        7,
        { name: 7 },
        { name: '' },
        { name: 'x'.repeat(300), inputSchema: {} },
        ECHO,
        ECHO,
        { name: 'no_schema' },
        { name: 'array', inputSchema: [] },
        { name: 'text', inputSchema: { type: 'string' } },
        { name: 'bad_output', inputSchema: { type: 'object' }, outputSchema: { type: 'nonsense', $ref: '#/none' } },
        { name: 'huge', inputSchema: { type: 'object', description: 'x'.repeat(100_000) } },
      ],
    };
    const { tools } = await mcp.readListing(ref());
    expect(tools.map(({ name }) => name)).toEqual(['echo', 'no_schema', 'array', 'text', 'bad_output', 'huge']);
    for (const { parameters } of tools) expect(parameters).toMatchObject({ type: 'object', properties: {} });
    server.call = () => ({ content: 'no list', structuredContent: { not: 'what outputSchema says' } });
    expect(await call('bad_output')).toEqual({ content: '{"not":"what outputSchema says"}', isError: false });
    server.tools = { tools: 'none' };
    expect((await mcp.readListing(ref())).tools).toEqual([]);
  });

  it('has forgotten the session is initialized again, and the call is made once', async () => {
    let calls = 0;
    server.call = () => ({ content: [{ type: 'text', text: String((calls += 1)) }] });
    expect((await call('echo')).content).toBe('1');
    server.forget();
    expect((await call('echo')).content).toBe('2');
    expect(server.asked.filter(({ method }) => method === 'initialize')).toHaveLength(2);
    expect(new Set(server.asked.flatMap(({ session }) => session ?? []))).toEqual(new Set(['session-1', 'session-2']));
  });

  it('answers nonsense or errors is quoted only where the protocol has a place for it', async () => {
    server.intercept = ({ message, reply }) => {
      if (message.method !== 'tools/call') return false;
      const error = { jsonrpc: '2.0', id: message.id, error: { code: -32602, message: 'text is missing' } };
      if (message.params?.name === 'refused') reply.writeHead(200, { 'content-type': 'application/json' });
      else reply.writeHead(500, { 'content-type': 'text/plain' });
      reply.end(message.params?.name === 'refused' ? JSON.stringify(error) : 'a stack trace');
      return true;
    };
    expect(errorOf(await call('refused'))).toContain('text is missing');
    expect(errorOf(await call('broken'))).toBe('The MCP server test answered HTTP 500.');
  });

  it('that is down or never completes the handshake has no tools and delays turns only briefly', async () => {
    const gone = await startTestMcp();
    gone.close();
    await expect(mcp.readListing(ref(gone.url))).rejects.toThrow(/could not be reached/);
    expect(await mcp.findListing('v1', ref(gone.url))).toEqual({
      unavailable: expect.stringContaining('could not be reached'),
    });
    let hands = 0;
    server.intercept = () => (hands += 1) > 0;
    expect(await mcp.findListing('v1', ref())).toHaveProperty('unavailable');
    expect(await mcp.findListing('v1', ref())).toHaveProperty('unavailable');
    expect(hands).toBe(1);
  });

  it('is interrupted stops at once', async () => {
    server.call = () => undefined;
    const abort = new AbortController();
    const work = call('slow', {}, abort.signal);
    abort.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
  });
});

it('concurrent callers share one read of a listing', async () => {
  const listings = await Promise.all(Array.from({ length: 20 }, () => mcp.findListing('v1', ref())));
  expect(listings.every((found) => 'listing' in found && found.listing.tools.length === 1)).toBe(true);
  await mcp.findListing('v1', ref());
  expect(server.asked.filter(({ method }) => method === 'tools/list')).toHaveLength(1);
});

it('names for the model are legal, unique and the same each time', () => {
  const listing = (names: string[]) => ({
    protocolVersion: '1',
    instructions: '',
    hasResources: true,
    hasPrompts: true,
    tools: names.map((name) => ({ name, description: '', parameters: {}, readOnly: false, idempotent: false })),
  });
  const enabled = { resources: true, prompts: true };
  const names = [
    ...buildTools(
      'a',
      listing(['b__c', 'x/y', 'x.y', 'list_resources', 'z'.repeat(80), `${'z'.repeat(80)}2`]),
      enabled,
    ),
    ...buildTools('a__b', listing(['c']), enabled),
    ...buildTools('a_', listing(['b__c']), enabled),
    ...buildTools('ünï', listing(['c']), enabled),
  ].map(({ name }) => name);
  expect(names.filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  expect(names.slice(0, 1)).toEqual(['a__b__c']);
  expect(names).toContain('a__read_resource');
});
