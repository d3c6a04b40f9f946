import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Parallelism, Tool } from '../../src/agents/tools/tool.ts';
import { allowAll, textOf } from '../support/chat.ts';
import { callTool, callTools, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

/** Answers with so many characters. */
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

it.each(['alone', 'together'])('the results of one reply have 200,000 characters, called %s', async (tool) => {
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  const lengths = [90_000, 90_000, 90_000, 15_000, 2000];
  service.model.play(
    callTools(lengths.map((length) => [tool, { length }])),
    callTool(tool, { length: 90_000 }),
    say('So much.'),
  );
  await chat.run('Go.');
  const results = (await chat.list()).filter(({ type }) => type === 'agent.tool_result').map(textOf);
  const first = results.slice(0, lengths.length);
  const spilled = first.filter((text) => text.startsWith('<persisted-output>'));
  expect(spilled).toHaveLength(1);
  expect(first.map((text) => text.length).reduce((sum, length) => sum + length)).toBeLessThan(200_000);
  expect(first.filter((text) => text.length === 2000)).toHaveLength(1);
  // the next reply has room of its own
  expect(results.slice(lengths.length).map((text) => text.length)).toEqual([90_000]);
  expect(readChat(service.model.requests[1]!).join('')).toContain('<persisted-output>');

  const path = /saved to (\S+\.txt)/.exec(spilled[0] ?? '')?.[1] ?? '';
  service.model.play(callTool('terminal', { command: `wc -c < ${path}` }), say('I see.'));
  await chat.run('How much?');
  expect(textOf((await chat.list()).findLast(({ type }) => type === 'agent.tool_result'))).toContain('90000');
  chat.close();
});
