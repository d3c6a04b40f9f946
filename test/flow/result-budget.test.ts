import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Parallelism, Tool } from '../../src/agents/tools/tool.ts';
import { allowAll, textOf } from '../support/chat.ts';
import { callTool, callTools, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

/** Returns this many characters. */
function buildTalker(name: string, parallelism: Parallelism): Tool {
  return {
    name,
    toolset: 'terminal',
    description: 'Says much.',
    parameters: { type: 'object', properties: { length: { type: 'integer' } }, required: ['length'] },
    readOnly: true,
    parallelism: () => parallelism,
    run: async ({ length }) => ({ content: 'z'.repeat(Number(length)), isError: false }),
  };
}

let service: Service;
beforeAll(async () => {
  const tools = [buildTalker('alone', 'exclusive'), buildTalker('together', 'shared')];
  service = await startService({ tools });
});
afterAll(() => service.close());

it.each(['alone', 'together'])('the results of one reply take two fifths of the window, called %s', async (tool) => {
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  const lengths = [23_000, 23_000, 23_000, 2500, 500];
  service.model.play(
    callTools(lengths.map((length) => [tool, { length }])),
    callTool(tool, { length: 23_000 }),
    say('So much.'),
  );
  await chat.run('Go.');
  const results = (await chat.list()).filter(({ type }) => type === 'agent.tool_result').map(textOf);
  const first = results.slice(0, lengths.length);
  const spilled = first.filter((text) => text.startsWith('<persisted-output>'));
  expect(spilled).toHaveLength(1);
  expect(first.map((text) => text.length).reduce((sum, length) => sum + length)).toBeLessThan(51_200);
  expect(first.filter((text) => text.length === 500)).toHaveLength(1);
  // the next reply has its own budget
  expect(results.slice(lengths.length).map((text) => text.length)).toEqual([23_000]);
  expect(readChat(service.model.requests[1]!).join('')).toContain('<persisted-output>');

  const path = /saved to (\S+\.txt)/.exec(spilled[0] ?? '')?.[1] ?? '';
  service.model.play(callTool('terminal', { command: `wc -c < ${path}` }), say('I see.'));
  await chat.run('How much?');
  expect(textOf((await chat.list()).findLast(({ type }) => type === 'agent.tool_result'))).toContain('23000');
  chat.close();
});

it('a result that is too long for the window goes to a file before the turn may fail', async () => {
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  const tooLong = { status: 400, body: '{"error":{"message":"too long","code":"context_length_exceeded"}}' };
  service.model.play(callTool('alone', { length: 20_000 }), tooLong, say('I see.'), say('Still.'));
  const idle = await chat.run('Go.');
  expect(idle.payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  const [, refused, repeated] = service.model.requests.map((request) => readChat(request).at(-1));
  expect(refused?.length).toBe(20_006);
  expect(repeated?.slice(0, 300)).toMatch(
    /^tool: <persisted-output>\nThe result has 20000 characters and was saved to/,
  );
  await chat.run('And now?');
  expect(readChat(service.model.requests[3]!).includes(repeated ?? '')).toBe(true);
  chat.close();
});
