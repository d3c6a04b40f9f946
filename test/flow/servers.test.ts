import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allow, customTool, textOf, toolResult, typesOf } from '../support/chat.ts';
import { callTool, readChat, say } from '../support/service-model.ts';
import { findServers, startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

const servers = await findServers();

describe.skipIf(servers === undefined)('two workers and two APIs on PostgreSQL, NATS and Redis', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ workers: 2, apis: 2 }, servers);
  });
  afterAll(() => service.close());

  it('serve one session together: sent to one, streamed by the other', async () => {
    const [first, second] = service.apis;
    const answer = 'The quick brown fox. '.repeat(60);
    const tools = [
      { type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_ask' } } },
      customTool('lookup', 'always_allow'),
    ];
    service.model.play(
      callTool('write_file', { path: 'a', content: 'x' }),
      callTool('lookup', { id: '7' }),
      { ...say(answer), chunkBytes: 500, gapMs: 2 },
      say('told'),
    );
    const here = await first!.openChat(await first!.createAgent({ tools }));
    const there = await second!.joinChat(here.agent, here.id);
    await here.prompt('Go.');
    const request = await there.next('agent.approval_request');
    await there.next('session.status_idle');
    await here.send(allow(request.id));
    const use = await there.next('agent.custom_tool_use');
    await there.next('session.status_idle');
    await there.send(toolResult(use.id, 'started', 'running'));
    const end = await here.next((frame) => JSON.stringify(frame.payload).includes('end_turn'));
    await there.next((frame) => frame.id === end.id);
    for (const chat of [here, there]) {
      const final = chat.frames.find((frame) => frame.payload['delta'] === false);
      const deltas = chat.frames.filter((frame) => frame.payload['delta'] === true);
      expect(deltas.length).toBeGreaterThan(0);
      expect(answer.startsWith(deltas.map(textOf).join(''))).toBe(true);
      expect(textOf(final)).toBe(answer);
    }
    await here.send(toolResult(use.id, 'seven', 'completed'));
    await there.next('session.tool_updated');
    await there.next('session.status_idle');
    expect(readChat(service.model.requests[3]!).at(-1)).toContain('seven');
    const events = await there.list();
    const streamed = there.frames.filter(
      (frame) =>
        frame.payload['delta'] !== true && frame.status !== 'streaming' && frame.type !== 'session.tool_updated',
    );
    expect(streamed.map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    here.close();
    there.close();
  });

  it('run many sessions, each turn once', async () => {
    service.model.play();
    const agent = await service.api.createAgent();
    const chats = await Promise.all(
      Array.from({ length: 12 }, (_, index) => service.apis[index % 2]!.openChat(agent, { subjectId: `s${index}` })),
    );
    await Promise.all(chats.map((chat) => chat.prompt('one')));
    await Promise.all(chats.map((chat) => chat.prompt('two')));
    for (const chat of chats) {
      await chat.next('session.status_idle');
      await chat.next('session.status_idle');
      const events = await chat.list();
      expect(typesOf(events).filter((type) => type === 'agent.message')).toHaveLength(2);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
      chat.close();
    }
    expect(service.model.requests).toHaveLength(24);
  });
});
