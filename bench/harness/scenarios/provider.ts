import assert from 'node:assert/strict';
import { callTool, say } from '../../../test/support/service-model.ts';
import type { ScriptedAnswer } from '../../../test/support/model-server/server.ts';
import { lastRead, messagesOf, repeat, resultsOf } from '../scenario.ts';
import type { Scenario } from '../scenario.ts';

const STORY = 'It was a dark and stormy night. '.repeat(20);
const part = (text: string): ScriptedAnswer => say(text, { finish: 'length' });
const cutCall = (content: string): ScriptedAnswer => {
  const { reply } = callTool('write_file', `{"path":"a.txt","content":"${content}`);
  return { reply: { ...reply, finish: 'length' } };
};

/** A provider that fails and then answers: the turn ends well after the given number of calls. */
const recovers = (name: string, ...answers: ScriptedAnswer[]): Scenario => ({
  name,
  play: [...answers, say('done')],
  check(outcome) {
    assert.equal(outcome.stop.type, 'end_turn');
    assert.deepEqual(messagesOf(outcome), ['done']);
    assert.equal(outcome.requests.length, answers.length + 1);
  },
});

/**
 * A turn that cannot continue: it ends with this error after the given number of calls, and the session stays usable.
 */
const fails = (name: string, code: string, calls: number, answers: readonly ScriptedAnswer[]): Scenario => ({
  name,
  play: answers,
  check(outcome) {
    assert.equal(outcome.stop.code, code);
    assert.equal(outcome.requests.length, calls);
  },
});

/** Providers that fail, stall and cut off replies. */
export const PROVIDER: readonly Scenario[] = [
  recovers('429 with Retry-After', { status: 429, headers: { 'retry-after': '1' } }),
  recovers('503 twice', { status: 503 }, { status: 503 }),
  recovers('529 three times', { status: 529 }, { status: 529 }, { status: 529 }),
  recovers('a page of HTML', { body: '<html>Bad gateway</html>' }),
  recovers('a stream that breaks off', { ...say(STORY), cutAfterBytes: 2500, chunkBytes: 500 }),
  recovers('an empty reply', say('')),
  fails('empty replies only', 'empty_reply', 2, [say(''), say('')]),
  fails('a reply that was filtered', 'content_filtered', 1, [say('', { finish: 'content_filter' })]),
  fails('a rejected key', 'upstream_authentication', 1, [{ status: 401 }]),
  {
    name: 'a text cut off twice is one message',
    play: [part('One, '), part('two, '), say('three.')],
    check: (outcome) => assert.deepEqual(messagesOf(outcome), ['One, two, three.']),
  },
  fails(
    'a text that never ends',
    'output_limit',
    4,
    repeat(4, (number) => part(`${number} `)),
  ),
  {
    name: 'a call that was cut off is told with the limit',
    play: [cutCall('a'), say('done')],
    check: (outcome) => assert.match(lastRead(outcome, 1), /limit of \d+ output tokens.*smaller parts/),
  },
  fails(
    'a call that is cut off again and again',
    'repeated_failure',
    5,
    repeat(5, (n) => cutCall('a'.repeat(n + 1))),
  ),
  fails(
    'a failing call that is repeated',
    'repeated_failure',
    5,
    repeat(9, () => callTool('read_file', { path: 'no' })),
  ),
  {
    name: 'a failing call that the model corrects',
    play: [...repeat(3, () => callTool('read_file', { path: 'no' })), callTool('todo', {}), say('done')],
    check(outcome) {
      assert.match(lastRead(outcome, 3), /Do not repeat it/);
      assert.equal(resultsOf(outcome).length, 4);
    },
  },
];
