import assert from 'node:assert/strict';
import { allow, clarifyResult, deny, interrupt, steer, textOf } from '../../../test/support/chat.ts';
import { callTool, callTools, say } from '../../../test/support/service-model.ts';
import { lastRead, messagesOf, repeat, resultsOf, terminal, withPolicies } from '../scenario.ts';
import type { Scenario } from '../scenario.ts';

const HUNDRED = callTools(Array.from({ length: 100 }, (): [string, unknown] => ['todo', {}]));
const FILE_ASKS = withPolicies({ file: 'always_ask' });

/** The order of calls, and people who answer, steer and interrupt. */
export const ORDER: readonly Scenario[] = [
  {
    name: 'an allowed call waits for the approval before it',
    play: [
      callTools([
        ['write_file', { path: 'x.txt', content: 'made' }],
        ['terminal', { command: 'cat x.txt' }],
      ]),
      say('done'),
    ],
    agent: () => FILE_ASKS,
    async talk(chat) {
      await chat.prompt('Go.');
      const asked = await chat.next('agent.approval_request');
      await chat.next('session.status_idle');
      assert.equal((await chat.list()).filter(({ type }) => type === 'agent.tool_result').length, 0);
      await chat.send(allow(asked.id));
      await chat.next('session.status_idle');
    },
    check: (outcome) => assert.match(textOf(resultsOf(outcome)[1]), /made/),
  },
  {
    name: 'nothing runs behind an open question',
    play: [
      callTools([
        ['clarify', { question: 'Delete the table?', choices: ['yes', 'no'] }],
        ['terminal', { command: 'echo DELETED > deleted.txt' }],
      ]),
      say('done'),
    ],
    async talk(chat) {
      await chat.prompt('Go.');
      const asked = await chat.next('agent.clarify_request');
      await chat.next('session.status_idle');
      assert.equal((await chat.list()).filter(({ type }) => type === 'agent.tool_result').length, 0);
      await chat.send(clarifyResult(String(asked.payload['request_id']), 'no'));
      await chat.next('session.status_idle');
    },
    check: (outcome) => assert.equal(resultsOf(outcome).length, 1),
  },
  {
    name: 'a denied call leaves the rest of the reply to run',
    play: [
      callTools([
        ['write_file', { path: 'x', content: 'x' }],
        ['todo', {}],
      ]),
      say('done'),
    ],
    agent: () => FILE_ASKS,
    async talk(chat) {
      await chat.prompt('Go.');
      const asked = await chat.next('agent.approval_request');
      await chat.next('session.status_idle');
      await chat.send(deny(asked.id));
      await chat.next('session.status_idle');
    },
    check: (outcome) =>
      assert.deepEqual(
        resultsOf(outcome).map(({ payload }) => payload['is_error']),
        [true, false],
      ),
  },
  {
    name: 'all requests of a reply are put at once',
    play: [callTools(['a', 'b', 'c'].map((path) => ['write_file', { path, content: path }])), say('done')],
    agent: () => FILE_ASKS,
    async talk(chat) {
      await chat.prompt('Go.');
      const idle = await chat.next('session.status_idle');
      const { event_ids: ids } = idle.payload['stop_reason'] as { event_ids: string[] };
      assert.equal(ids.length, 3);
      await chat.send(...ids.map((id) => allow(id)));
      await chat.next('session.status_idle');
    },
    check: (outcome) => assert.equal(resultsOf(outcome).length, 3),
  },
  {
    name: 'two writes of one file keep their order',
    play: [
      callTools([
        ['write_file', { path: 'a', content: 'first' }],
        ['write_file', { path: './a', content: 'second' }],
        ['read_file', { path: 'a' }],
      ]),
      say('done'),
    ],
    check: (outcome) => assert.match(textOf(resultsOf(outcome)[2]), /second/),
  },
  {
    name: 'a hundred calls of one reply',
    play: [HUNDRED, say('done')],
    check: (outcome) => assert.equal(resultsOf(outcome).length, 100),
  },
  {
    name: 'guidance during a command reaches the next model call',
    play: [terminal('sleep 2'), say('done')],
    async talk(chat) {
      await chat.prompt('Go.');
      await chat.next('agent.tool_use');
      await chat.send(steer('Keep left.'));
      await chat.next('session.status_idle');
    },
    check: (outcome) => assert.match(outcome.requests.flat().join('\n'), /Keep left\./),
  },
  {
    name: 'an interrupt ends a running command',
    play: [terminal('sleep 300')],
    async talk(chat) {
      await chat.prompt('Go.');
      await chat.next('agent.tool_use');
      await chat.send(interrupt('Enough.'));
      await chat.next('session.status_idle');
    },
    check: (outcome) => assert.equal(outcome.events.at(-1)?.payload['interrupted'], true),
  },
  {
    name: 'prompts that come meanwhile are answered in order',
    play: [terminal('sleep 1'), say('one'), say('two'), say('three')],
    async talk(chat) {
      await chat.prompt('First.');
      await chat.next('agent.tool_use');
      await chat.prompt('Second.');
      await chat.prompt('Third.');
      await chat.next('session.status_idle');
      await chat.next('session.status_idle');
      await chat.next('session.status_idle');
    },
    check: (outcome) => assert.deepEqual(messagesOf(outcome), ['one', 'two', 'three']),
  },
  {
    name: 'a skipped question is said to be one',
    play: [callTool('clarify', { question: 'Which?' }), say('done')],
    async talk(chat) {
      await chat.prompt('Go.');
      const asked = await chat.next('agent.clarify_request');
      await chat.next('session.status_idle');
      await chat.send(clarifyResult(String(asked.payload['request_id']), ''));
      await chat.next('session.status_idle');
    },
    check: (outcome) => assert.match(lastRead(outcome, 1), /skip/i),
  },
  {
    name: 'the beginning of each prompt is that of the last one',
    play: repeat(6, (number) => (number % 2 === 0 ? callTool('todo', {}) : say(`turn ${number}`))),
    async talk(chat) {
      for (const text of ['One.', 'Two.', 'Three.']) await chat.run(text);
    },
    check({ requests }) {
      requests.slice(1).forEach((messages, index) => {
        const before = requests[index] ?? [];
        assert.deepEqual(messages.slice(0, before.length), before);
      });
    },
  },
];
