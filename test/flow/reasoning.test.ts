import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WireFormat } from '../../src/inference/config.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { allowAll, textOf } from '../support/chat.ts';
import { callTool, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

/** The expected request fields, by format and effort. */
const ASKED: Record<WireFormat, Record<string, object>> = {
  'chat-completions': { low: { reasoning_effort: 'low' }, max: { reasoning_effort: 'high' } },
  responses: { low: { reasoning: { effort: 'low', summary: 'auto' } }, max: { reasoning: { effort: 'high' } } },
  messages: {
    low: { thinking: { type: 'enabled', budget_tokens: 4096 } },
    max: { thinking: { type: 'enabled', budget_tokens: 32_000 } },
  },
};
const FIELDS = ['reasoning_effort', 'reasoning', 'thinking'];

describe.each<WireFormat>(['chat-completions', 'responses', 'messages'])('over %s', (format) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ format });
  });
  afterAll(() => service.close());

  it("a session thinks as hard as its agent's version says, unless it says otherwise itself", async () => {
    const agent = await service.api.createAgent({ tools: allowAll, reasoning: { effort: 'low' } });
    const chat = await service.api.openChat(agent);
    expect((await chat.session()).reasoning).toBeNull();
    await chat.run('One.');
    const path = `/v1/sessions/${chat.id}`;
    const { body } = await service.api.call<Session>('POST', path, { reasoning: { effort: 'max' } });
    expect(body.reasoning).toEqual({ effort: 'max' });
    await chat.run('Two.');
    await service.api.call('POST', path, { reasoning: null });
    await chat.run('Three.');
    expect(service.model.requests.map((request) => request.body)).toMatchObject([
      ASKED[format]['low']!,
      ASKED[format]['max']!,
      ASKED[format]['low']!,
    ]);
    chat.close();
  });

  it('nothing is asked for without a setting', async () => {
    service.model.play(say('ok'));
    const chat = await service.api.openChat();
    await chat.run('One.');
    const { body } = service.model.requests[0]!;
    expect(FIELDS.filter((field) => body[field] !== undefined)).toEqual([]);
    chat.close();
  });

  it('thinking is shown, and returned to the provider with the results of its calls', async () => {
    const { reply } = callTool('todo', {});
    const signature =
      format === 'responses'
        ? { summary: true, encrypted: 'c2VhbGVk' }
        : { signature: format === 'messages' ? 's1' : 'reasoning_content' };
    const thought = { type: 'reasoning' as const, text: 'The list is empty.', ...signature };
    service.model.play({ reply: { ...reply, content: [thought, ...(reply?.content ?? [])] } }, say('Done.'));
    const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }), {
      reasoning: { effort: 'medium' },
    });
    await chat.run('Go.');
    const thinking = (await chat.list()).filter(({ type }) => type === 'agent.thinking');
    expect(thinking.map(textOf)).toEqual(['The list is empty.']);
    expect(JSON.stringify(service.model.requests[1]!.body)).toContain(
      format === 'responses' ? 'c2VhbGVk' : 'The list is empty.',
    );
    chat.close();
  });
});

it('an effort that does not exist is refused', async () => {
  const service = await startService();
  const body = {
    name: 'Ada',
    modelName: 'acme/small',
    systemPrompt: '',
    skills: [],
    tools: [],
    reasoning: { effort: 'huge' },
  };
  expect((await service.api.call('POST', '/v1/agents', body)).status).toBe(400);
  await service.close();
});
