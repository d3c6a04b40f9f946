import type { Conversation } from './conversation.ts';

/**
 * One session and the actions of its application. Everything is deterministic: the model is `script/demo`, which obeys
 * its prompt.
 */
export type Scenario = {
  name: string;
  agent: object;
  session?: object;
  play: (conversation: Conversation) => Promise<void>;
};

const toolset = (policy: string) => [
  {
    type: 'agent_toolset',
    defaultConfig: { enabled: true, permissionPolicy: { type: policy } },
    configs: [{ name: 'delegation', permissionPolicy: { type: policy } }],
  },
];
const ALLOWED = { tools: toolset('always_allow') };
const ASKED = { tools: toolset('always_ask') };
const CUSTOM = {
  tools: [
    {
      type: 'custom_tool',
      name: 'find_order',
      description: 'Finds an order.',
      input_schema: { type: 'object', properties: { id: { type: 'string' } } },
      permissionPolicy: { type: 'always_allow' },
    },
  ],
};
const SKILLS = {
  ...ALLOWED,
  skills: [{ name: 'greet', description: 'How to greet.', content: 'Say hello.' }],
};

const text = (value: string) => [{ type: 'text', text: value }];
const prompt = (value: string, more: object = {}) => ({ type: 'user.message', content: text(value), ...more });
const call = (tool: string, input: unknown) => prompt(`call ${tool} ${JSON.stringify(input)}`);

/** Sends prompts in sequence, each when the previous turn has ended. */
const inTurn =
  (...prompts: object[]) =>
  async ({ send, ended }: Conversation) => {
    for (const each of prompts) {
      await send(each);
      await ended();
    }
  };

const approve =
  (answer: object) =>
  async ({ send, next, ended }: Conversation) => {
    await send(prompt('run: echo approved'));
    const { id } = await next('agent.approval_request');
    await send({ type: 'user.approval_response', approval_id: id, ...answer });
    await ended();
  };

export const SCENARIOS: readonly Scenario[] = [
  { name: 'text', agent: {}, play: inTurn(prompt('Hello'), prompt('think: one thing\nHello again')) },
  { name: 'metadata', agent: {}, play: inTurn(prompt('Hello', { metadata: { order: 7, test: true } })) },
  { name: 'model error', agent: {}, play: inTurn(prompt('fail: no such thing'), prompt('Hello')) },
  {
    name: 'files',
    agent: ALLOWED,
    play: inTurn(
      prompt('write notes.md: one\ncall read_file {"path":"notes.md"}'),
      call('patch', { mode: 'replace', path: 'notes.md', old_string: 'one', new_string: 'two' }),
      call('search_files', { pattern: 'two' }),
      call('read_file', { path: 'missing.md' }),
    ),
  },
  {
    name: 'terminal',
    agent: ALLOWED,
    play: inTurn(prompt('run: echo one; exit 3\nrun: echo two >&2'), prompt('run: seq 1 9 | tail -2')),
  },
  {
    name: 'broken calls',
    agent: ALLOWED,
    play: inTurn(prompt('call terminal {"command"'), call('terminal', {}), call('process', { action: 'list' })),
  },
  { name: 'todo', agent: ALLOWED, play: inTurn(call('todo', {})) },
  {
    name: 'memory',
    agent: ALLOWED,
    play: inTurn(call('memory', { action: 'add', target: 'user', content: 'Likes tea.' })),
  },
  { name: 'skills', agent: SKILLS, play: inTurn(call('skills_list', {}), call('skill_view', { name: 'greet' })) },
  {
    name: 'subagents',
    agent: ALLOWED,
    play: inTurn(call('delegate_task', { tasks: [{ goal: 'run: echo one', context: 'nothing else' }] })),
  },
  { name: 'approval once', agent: ASKED, play: approve({ result: 'allow' }) },
  { name: 'approval for the session', agent: ASKED, play: approve({ result: 'allow', scope: 'session' }) },
  { name: 'denial', agent: ASKED, play: approve({ result: 'deny' }) },
  { name: 'denied by policy', agent: { tools: toolset('always_deny') }, play: inTurn(prompt('run: echo no')) },
  {
    name: 'clarification',
    agent: ALLOWED,
    play: async ({ send, next, ended }) => {
      await send(prompt('ask: Which color?'));
      const { id } = await next('agent.clarify_request');
      await send({ type: 'user.clarify_result', request_id: id, answer: 'red' });
      await ended();
    },
  },
  {
    name: 'custom tool',
    agent: CUSTOM,
    play: async ({ send, next, ended }) => {
      await send(call('find_order', { id: '7' }));
      const { id } = await next('agent.custom_tool_use');
      await send({ type: 'user.custom_tool_result', tool_use_id: id, content: text('found'), status: 'completed' });
      await ended();
    },
  },
  {
    name: 'steer',
    agent: ASKED,
    play: async ({ send, next, ended }) => {
      await send(prompt('run: echo steered'));
      const { id } = await next('agent.approval_request');
      await send({ type: 'user.steer', message: 'Be brief.' });
      await send({ type: 'user.approval_response', approval_id: id, result: 'allow' });
      await ended();
    },
  },
  {
    name: 'interrupt',
    agent: ASKED,
    play: async ({ send, next, ended }) => {
      await send(prompt('run: echo never'));
      await next('agent.approval_request');
      await send({ type: 'user.interrupt', message: 'Something else.' });
      await ended();
    },
  },
  {
    name: 'queue',
    agent: ASKED,
    play: async ({ send, next, ended }) => {
      await send(prompt('run: echo first'));
      const { id } = await next('agent.approval_request');
      await send(prompt('second'));
      await send({ type: 'user.approval_response', approval_id: id, result: 'allow' });
      await ended();
      await ended();
    },
  },
  {
    name: 'goal',
    agent: ALLOWED,
    session: { yoloMode: true },
    play: async ({ send, ended }) => {
      await send(prompt('/goal run: echo one more >> log; wc -l < log\nuntil: 3'));
      // Three turns, and the service's messages about the goal.
      for (let end = 0; end < 4; end += 1) await ended();
    },
  },
  {
    name: 'attachment',
    agent: ALLOWED,
    play: inTurn(
      prompt('Hello', {
        attachments: [
          {
            type: 'file',
            filename: 'a.txt',
            mediaType: 'text/plain',
            source: { type: 'data_url', dataUrl: 'data:text/plain;base64,b25l' },
          },
        ],
      }),
    ),
  },
];
