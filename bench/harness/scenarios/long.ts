import assert from 'node:assert/strict';
import { textOf } from '../../../test/support/chat.ts';
import { isStatement } from '../../../test/support/goals.ts';
import { callTool, callTools, judge, say } from '../../../test/support/service-model.ts';
import { ALLOW, withDelegation } from '../../../test/support/threads.ts';
import { lastRead, messagesOf, repeat, resultsOf, terminal } from '../scenario.ts';
import type { Bench, Scenario } from '../scenario.ts';

/** An agent of two MCP servers, one of which is down. */
const withServers = ({ mcp }: Bench): object => ({
  mcpServers: [
    { type: 'url', name: 'files', url: mcp.url },
    { type: 'url', name: 'down', url: 'http://127.0.0.1:1/mcp' },
  ],
  tools: ['files', 'down'].map((mcpServerName) => ({ type: 'mcp_toolset', mcpServerName, defaultConfig: ALLOW })),
});

async function openRun({ service }: Bench) {
  const agent = await service.api.createAgent();
  const path = `/v1/agents/${agent.id}/users/anna/automations`;
  const body = { name: 'Digest', prompt: 'Summarise today.', schedule: '0 9 * * 1' };
  const made = await service.api.call<{ id: string }>('POST', path, body);
  const run = await service.api.call<{ sessionId: string }>('POST', `${path}/${made.body.id}/trigger`);
  return service.api.joinChat(agent, run.body.sessionId, '?after=0');
}

/** MCP servers, automations, goals, subagents and long conversations. */
export const LONG: readonly Scenario[] = [
  {
    name: 'an MCP server that is down is named, and the other works',
    play: [callTool('files__echo', { text: 'hello' }), say('done')],
    agent: withServers,
    check(outcome) {
      assert.match(outcome.requests[0]?.[0] ?? '', /MCP servers are unavailable/);
      assert.match(lastRead(outcome, 1), /hello/);
    },
  },
  {
    name: 'an MCP call that fails is a result',
    play: [callTool('files__echo', { text: 'x' }), say('done')],
    agent: withServers,
    async talk(chat, { mcp }) {
      const { intercept } = mcp;
      mcp.intercept = ({ message, reply }) => {
        if (message.method !== 'tools/call') return false;
        reply.writeHead(500).end();
        return true;
      };
      await chat.run('Go.');
      mcp.intercept = intercept;
    },
    check(outcome) {
      assert.equal(resultsOf(outcome)[0]?.payload['is_error'], true);
      assert.equal(outcome.stop.type, 'end_turn');
    },
  },
  {
    name: 'an MCP server that comes back is there in the next turn',
    play: [say('no tool'), callTool('files__echo', { text: 'back' }), say('done')],
    agent: ({ mcp }) => ({
      ...withServers({ mcp } as Bench),
      mcpServers: [{ type: 'url', name: 'files', url: `${mcp.url}?late` }],
      tools: [{ type: 'mcp_toolset', mcpServerName: 'files', defaultConfig: ALLOW }],
    }),
    async talk(chat, { mcp }) {
      const { intercept } = mcp;
      mcp.intercept = ({ reply }) => {
        reply.writeHead(503).end();
        return true;
      };
      await chat.run('Go.');
      mcp.intercept = intercept;
      await chat.run('Again.');
    },
    check: (outcome) => assert.match(lastRead(outcome, 2), /back/),
  },
  {
    name: 'a run of an automation knows that nobody is there',
    play: [callTool('clarify', { question: 'Which?' }), say('done')],
    open: openRun,
    talk: (chat) => chat.next('session.status_idle'),
    check(outcome) {
      assert.match(outcome.requests[0]?.[0] ?? '', /Nobody is present/);
      assert.match(lastRead(outcome, 1), /no tool named clarify/);
    },
  },
  {
    name: 'a run of an automation rides out an outage',
    play: [{ status: 503 }, { status: 503 }, say('done')],
    open: openRun,
    talk: (chat) => chat.next('session.status_idle'),
    check: (outcome) => assert.deepEqual(messagesOf(outcome), ['done']),
  },
  {
    name: 'a goal is worked on until it is reached',
    play: [say('One.'), say('Two.')],
    async talk(chat, { service }) {
      service.model.verdicts = [judge('continue', 'Two is missing.'), judge('done', 'Both are there.')];
      await chat.prompt('/goal Count to two.');
      await chat.next(isStatement);
    },
    check: (outcome) => assert.match(messagesOf(outcome).at(-1) ?? '', /The goal is reached/),
  },
  {
    name: 'two subagents, side by side',
    play: [],
    agent: () => ({ tools: withDelegation(), modelName: 'script/demo' }),
    talk: (chat) =>
      chat.run(
        `call delegate_task ${JSON.stringify({ tasks: [{ goal: 'run: echo one' }, { goal: 'run: echo two' }] })}`,
      ),
    check(outcome) {
      const ends = outcome.events.filter(({ type }) => type === 'agent.thread_message_received');
      assert.deepEqual(ends.map(textOf).toSorted(), ['terminal: one', 'terminal: two']);
    },
  },
  {
    name: 'a background process says when it ends',
    play: [
      callTool('terminal', { command: 'sleep 1; echo built', background: true, notify_on_complete: true }),
      say('started'),
      say('it has ended'),
    ],
    async talk(chat) {
      await chat.prompt('Go.');
      await chat.next('session.status_idle');
      await chat.next('session.status_idle');
    },
    check: (outcome) => assert.deepEqual(messagesOf(outcome), ['started', 'it has ended']),
  },
  {
    name: 'a long turn is compacted, and its prompt stays',
    play: [...repeat(12, (number) => terminal(`echo ${number}; head -c 11000 /dev/zero | tr '\\0' x`)), say('done')],
    talk: (chat) => chat.run('Remember the word tangerine.'),
    check(outcome) {
      assert.ok(outcome.events.some(({ type }) => type === 'session.compacted'));
      assert.match(outcome.requests.at(-1)?.join('\n') ?? '', /tangerine/);
      assert.equal(outcome.stop.type, 'end_turn');
    },
  },
  {
    name: 'the task list outlives a compaction',
    play: [
      callTools([['todo', { todos: [{ id: '1', content: 'Press the button', status: 'in_progress' }] }]]),
      ...repeat(12, (number) => terminal(`echo ${number}; head -c 11000 /dev/zero | tr '\\0' x`)),
      say('done'),
    ],
    check: (outcome) => assert.match(outcome.requests.at(-1)?.join('\n') ?? '', /\[>\] 1\. Press the button/),
  },
];
