import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WireFormat } from '../../src/inference/config.ts';
import { allowAll, textOf } from '../support/chat.ts';
import { buildGateTools } from '../support/gate-tools.ts';
import { callTool, callTools, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

describe.each<WireFormat>(['chat-completions', 'messages', 'responses'])(
  'several calls of one reply over %s',
  (format) => {
    const gates = buildGateTools();
    let service: Service;
    beforeAll(async () => {
      service = await startService({ format, tools: gates.tools });
    });
    afterAll(() => service.close());

    const openChat = async () => service.api.openChat(await service.api.createAgent({ tools: allowAll }));

    it('run at once where they only read, however the reply was cut', async () => {
      const calls = callTools([
        ['meet', { key: 'x' }],
        ['meet', { key: 'x' }],
        ['todo', {}],
      ]);
      service.model.play({ ...calls, chunkBytes: 7 }, say('done'));
      const chat = await openChat();
      await chat.run('Go.');
      expect(gates.together.get('x')).toBe(2);
      const events = await chat.list();
      const uses = events.filter((event) => event.type === 'agent.tool_use');
      const results = events.filter((event) => event.type === 'agent.tool_result');
      expect(uses.map(({ payload }) => [payload['name'], payload['input']])).toEqual([
        ['meet', { key: 'x' }],
        ['meet', { key: 'x' }],
        ['todo', {}],
      ]);
      expect(new Set(results.map(({ payload }) => payload['tool_use_id']))).toEqual(new Set(uses.map(({ id }) => id)));
      expect(JSON.stringify(service.model.requests[1]?.body).split('meet x')).toHaveLength(3);
      chat.close();
    });

    it('run one after the other where they change the same path', async () => {
      service.model.play(
        callTools([
          ['track', { key: 'same' }],
          ['track', { key: 'same' }],
          ['write_file', { path: 'a.txt', content: '1' }],
          ['write_file', { path: './a.txt', content: '2' }],
        ]),
        callTool('read_file', { path: 'a.txt' }),
        say('done'),
      );
      const chat = await openChat();
      await chat.run('Go.');
      expect(gates.together.get('same')).toBe(1);
      const results = (await chat.list()).filter((event) => event.type === 'agent.tool_result');
      expect(results).toHaveLength(5);
      expect(textOf(results[4])).toContain('1|2');
      chat.close();
    });
  },
);
