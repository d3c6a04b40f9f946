import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { McpOperation } from '../../../src/agents/contract/mcp.ts';
import type { Mcp } from '../../../src/agents/mcp/mcp.ts';
import { buildTools } from '../../../src/agents/mcp/tools.ts';
import { openEmbeddedDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';
import { startEverything } from '../../support/mcp/everything.ts';
import { openTestVaults } from '../../support/vaults.ts';

describe.each(['streamableHttp', 'sse'] as const)('the reference server over %s', (transport) => {
  let database: TestDatabase;
  let everything: Awaited<ReturnType<typeof startEverything>>;
  let mcp: Mcp;
  let server: { agentId: string; name: string; url: string };
  beforeAll(async () => {
    database = await openEmbeddedDatabase();
    everything = await startEverything(transport);
    ({ mcp } = openTestVaults(database.db));
    server = { agentId: 'agt_none', name: 'everything', url: everything.url };
  });
  afterAll(async () => {
    await mcp.close();
    await everything.close();
    await database.close();
  });

  const call = (operation: McpOperation, input: Record<string, unknown>, tool: string = operation) => {
    return mcp.call({ server, scope: 'ses_1', operation, tool, input, signal: new AbortController().signal });
  };

  it('lists its tools', async () => {
    const listing = await mcp.readListing(server);
    expect(listing).toMatchObject({ hasResources: true, hasPrompts: true });
    const tools = buildTools('everything', listing, { resources: true, prompts: true });
    const names = tools.map(({ name }) => name);
    expect(names).toContain('everything__echo');
    expect(names).toContain('everything__read_resource');
    expect(names).toContain('everything__get_prompt');
    expect(tools.find(({ name }) => name === 'everything__echo')?.parameters).toMatchObject({
      type: 'object',
      properties: { message: { type: 'string' } },
    });
  });

  it('runs tools, and reports errors of a call', async () => {
    expect(await call('tool', { message: 'hello' }, 'echo')).toEqual({ content: 'Echo: hello', isError: false });
    expect(await call('tool', { a: 'x' }, 'get-sum')).toMatchObject({ isError: true });
    expect(await call('tool', {}, 'no-such-tool')).toMatchObject({ isError: true });
    const image = await call('tool', {}, 'get-tiny-image');
    expect(image.images).toEqual([{ type: 'image', mediaType: 'image/png', data: expect.any(String) }]);
  });

  it('has resources and prompts', async () => {
    const resources = await call('list_resources', {});
    const { resourceTemplates } = JSON.parse(resources.content) as { resourceTemplates: unknown[] };
    expect(resourceTemplates.length).toBeGreaterThan(0);
    const read = await call('read_resource', { uri: 'demo://resource/dynamic/text/1' });
    expect(read.content).toContain('Resource 1');
    const prompts = await call('list_prompts', {});
    const names = (JSON.parse(prompts.content) as { prompts: { name: string }[] }).prompts.map(({ name }) => name);
    expect(names).toContain('simple-prompt');
    const prompt = await call('get_prompt', { name: 'simple-prompt' });
    expect(JSON.parse(prompt.content)).toMatchObject({ messages: [{ role: 'user' }] });
  });

  it('answers many calls at once', async () => {
    const messages = Array.from({ length: 50 }, (_, index) => `message ${index}`);
    const outcomes = await Promise.all(messages.map((message) => call('tool', { message }, 'echo')));
    expect(outcomes.map(({ content }) => content)).toEqual(messages.map((message) => `Echo: ${message}`));
  });
});
