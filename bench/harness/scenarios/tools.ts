import assert from 'node:assert/strict';
import { customTool, textOf, toolResult } from '../../../test/support/chat.ts';
import { callTool, callTools, say } from '../../../test/support/service-model.ts';
import { lastRead, messagesOf, resultsOf, terminal, withPolicies } from '../scenario.ts';
import type { Outcome, Scenario } from '../scenario.ts';

const TOO_LONG = { status: 400, body: '{"error":{"message":"too long","code":"context_length_exceeded"}}' };
const FIND = 'const answer = 41;\n';

function endsWell({ stop }: Outcome): void {
  assert.equal(stop.type, 'end_turn');
}

/** One call, and the result that the model reads. */
const reads = (name: string, call: [string, unknown], pattern: RegExp): Scenario => ({
  name,
  play: [callTools([call]), say('done')],
  check(outcome) {
    endsWell(outcome);
    assert.match(lastRead(outcome, 1), pattern);
  },
});

/** Results that are too long, calls that are wrong, and files. */
export const TOOLS: readonly Scenario[] = [
  {
    name: 'a command prints 60,000 characters',
    play: [terminal("head -c 60000 /dev/zero | tr '\\0' x"), say('done')],
    check(outcome) {
      endsWell(outcome);
      assert.ok(lastRead(outcome, 1).length < 30_000);
    },
  },
  {
    name: 'four long results in one reply',
    play: [terminal(...Array.from({ length: 4 }, () => "head -c 20000 /dev/zero | tr '\\0' x")), say('done')],
    check(outcome) {
      endsWell(outcome);
      assert.ok((outcome.requests[1] ?? []).join('').length < 80_000);
    },
  },
  {
    name: 'a result that is too long for the window',
    play: [terminal("head -c 20000 /dev/zero | tr '\\0' x"), TOO_LONG, say('done')],
    check(outcome) {
      endsWell(outcome);
      assert.match(lastRead(outcome, 2), /persisted-output/);
    },
  },
  {
    name: 'a long file, read in parts',
    play: [
      terminal('seq 1 4000 > long.txt'),
      callTool('read_file', { path: 'long.txt', limit: 50 }),
      callTool('read_file', { path: 'long.txt', offset: 3990 }),
      say('done'),
    ],
    check(outcome) {
      assert.match(lastRead(outcome, 2), /\b50\b/);
      assert.match(lastRead(outcome, 3), /4000\|4000/);
    },
  },
  {
    name: 'a progress bar costs one line',
    play: [terminal("for i in $(seq 1 500); do printf '\\r%d of 500' $i; done; echo"), say('done')],
    check: (outcome) => assert.ok(lastRead(outcome, 1).length < 200),
  },
  {
    name: 'quotes and line breaks arrive as they are',
    play: [terminal(`printf 'say "hi"\\nand go\\n'`), say('done')],
    check: (outcome) => assert.match(lastRead(outcome, 1), /say "hi"\nand go/),
  },
  reads('a name that is nearly right', ['Terminal', { command: 'ls' }], /Did you mean terminal\?/),
  reads('a name that no tool has', ['banana', {}], /Use only the tools/),
  reads('arguments that are no JSON', ['todo', '{"todos": ['], /not valid JSON/),
  reads('a missing argument', ['write_file', { path: 'a.txt' }], /content/),
  reads('a number as text', ['read_file', { path: '/etc/hostname', limit: '5' }], /tool: /),
  reads('a patch without a mode', ['patch', { path: 'none.txt', old_string: 'a', new_string: 'b' }], /none\.txt/),
  {
    name: 'a denied tool',
    play: [terminal('ls'), say('done')],
    agent: () => withPolicies({ terminal: 'always_deny' }),
    check(outcome) {
      endsWell(outcome);
      assert.equal(resultsOf(outcome)[0]?.payload['is_error'], true);
    },
  },
  {
    name: 'a patch, and the file after it',
    play: [
      callTool('write_file', { path: 'a.js', content: FIND }),
      callTool('patch', { path: 'a.js', old_string: 'answer  =  41', new_string: 'answer = 42' }),
      callTool('read_file', { path: 'a.js' }),
      say('done'),
    ],
    check: (outcome) => assert.match(lastRead(outcome, 3), /answer = 42/),
  },
  {
    name: 'a patch that fits nowhere shows the nearest place',
    play: [
      callTool('write_file', { path: 'a.js', content: FIND.repeat(3) }),
      callTool('patch', { path: 'a.js', old_string: 'const answers = 14', new_string: 'x' }),
      say('done'),
    ],
    check: (outcome) => assert.match(lastRead(outcome, 2), /const answer = 41/),
  },
  {
    name: 'a file that is not there, with one of a similar name',
    play: [
      callTool('write_file', { path: 'report.md', content: 'x' }),
      callTool('read_file', { path: 'reports.md' }),
      say('done'),
    ],
    check: (outcome) => assert.match(lastRead(outcome, 2), /report\.md/),
  },
  {
    name: 'a script that calls tools',
    play: [
      callTool('execute_code', {
        code: 'from hermes_tools import terminal\nprint(sum(len(terminal(f"echo {n}")["output"]) for n in range(20)))',
      }),
      say('done'),
    ],
    check(outcome) {
      assert.match(textOf(resultsOf(outcome).at(-1)), /50/);
      assert.equal(outcome.requests.length, 2);
    },
  },
  {
    name: 'a custom tool with a wrong input goes back to the model',
    play: [callTool('lookup', { id: ['7'] }), callTool('lookup', { id: '7' }), say('done')],
    agent: () => ({ tools: [customTool('lookup', 'always_allow')] }),
    async talk(chat) {
      await chat.prompt('Go.');
      const use = await chat.next('agent.custom_tool_use');
      await chat.next('session.status_idle');
      await chat.send(toolResult(use.id, 'seven', 'completed'));
      await chat.next('session.status_idle');
    },
    check(outcome) {
      assert.match(lastRead(outcome, 1), /id: must be string/);
      assert.deepEqual(messagesOf(outcome), ['done']);
    },
  },
];
