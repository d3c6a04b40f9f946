import { describe, expect, it } from 'vitest';
import { collectReply } from '../../src/inference/collect.ts';
import type { ModelDelta, ModelMessage, ModelRequest } from '../../src/inference/model.ts';
import { JUDGE_SYSTEM } from '../../src/inference/script-judge.ts';
import { SUMMARY_SYSTEM } from '../../src/inference/script-summary.ts';
import { readVerdict } from '../../src/agents/loop/goal/goal.ts';
import { streamScript } from '../../src/inference/script.ts';
import { callsOf } from '../support/upstream.ts';

const tool = (name: string) => ({ name, description: '', parameters: { type: 'object' } });
const TOOLS = ['terminal', 'write_file', 'clarify', 'todo'].map(tool);
const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });

function ask(messages: ModelMessage[], fields: Partial<ModelRequest> = {}, onDelta?: (delta: ModelDelta) => void) {
  const request = { model: 'script/demo', system: '', messages, tools: TOOLS, ...fields };
  return collectReply(streamScript(request, new AbortController().signal), onDelta);
}

describe('script/demo', () => {
  it('echoes the last prompt, in several deltas, and counts tokens', async () => {
    const deltas: ModelDelta[] = [];
    const messages = [user('one'), { role: 'assistant' as const, content: [] }, user('What a fine day it is, friend')];
    const reply = await ask(messages, {}, (delta) => deltas.push(delta));
    expect(reply.content).toEqual([{ type: 'text', text: 'You said: What a fine day it is, friend' }]);
    expect(reply.finish).toBe('stop');
    expect(deltas.filter((delta) => delta.type === 'text').length).toBeGreaterThan(2);
    expect(reply.usage.output).toBe(10);
    expect(reply.usage.input).toBeGreaterThan(20);
  });

  it('answers the same request the same way', async () => {
    const messages = [user('run: date\nwrite a.txt: x')];
    expect(await ask(messages)).toEqual(await ask(messages));
  });

  it('makes all the calls that a prompt asks for, in order, in one reply', async () => {
    const prompt = 'Please:\nrun: echo "a: b"\nwrite notes/a.txt: hello: you\nask: Which one?\ncall todo {"todos":[]}';
    const reply = await ask([user(prompt)]);
    expect(callsOf(reply.content)).toEqual([
      ['terminal', '{"command":"echo \\"a: b\\""}'],
      ['write_file', '{"path":"notes/a.txt","content":"hello: you"}'],
      ['clarify', '{"question":"Which one?"}'],
      ['todo', '{"todos":[]}'],
    ]);
    expect(reply.finish).toBe('tool_calls');
  });

  it('makes only calls whose tools are offered', async () => {
    const reply = await ask([user('run: date\nask: Which?')], { tools: [tool('clarify')] });
    expect(callsOf(reply.content)).toEqual([['clarify', '{"question":"Which?"}']]);
    expect((await ask([user('run: date')], { tools: [] })).content).toEqual([
      { type: 'text', text: 'You said: run: date' },
    ]);
  });

  it('passes on arguments as written, well-formed or not', async () => {
    const reply = await ask([user('call todo {"x": \ncall todo')]);
    expect(callsOf(reply.content)).toEqual([
      ['todo', '{"x":'],
      ['todo', '{}'],
    ]);
  });

  it('thinks first', async () => {
    const reply = await ask([user('think: let me see\nHello')]);
    expect(reply.content).toEqual([
      { type: 'reasoning', text: 'let me see' },
      { type: 'text', text: 'You said: Hello' },
    ]);
    expect(reply.usage.reasoning).toBeGreaterThan(0);
  });

  it('fails when told to', async () => {
    await expect(ask([user('fail: no such thing')])).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'no such thing',
    });
  });

  it('summarizes the results, and runs nothing again', async () => {
    const messages = [user('run: date\nrun: false\nask: Which?')];
    const { content } = await ask(messages);
    const answers = ['{"exit_code":0}\n\noutput:\nMonday\n', '{"error":"it broke"}', 'the red one'];
    const ids = content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
    const results = answers.map((text, index) => ({
      callId: ids[index] ?? '',
      content: [{ type: 'text' as const, text }],
      isError: index === 1,
    }));
    const reply = await ask([...messages, { role: 'assistant', content }, { role: 'tool', results }]);
    expect(reply.content).toEqual([
      { type: 'text', text: 'terminal: Monday\nterminal failed: it broke\nclarify: the red one' },
    ]);
  });

  it('uses no call id twice in a conversation', async () => {
    const first = await ask([user('run: a\nrun: b')]);
    const second = await ask([user('run: a\nrun: b'), { role: 'assistant', content: first.content }, user('run: c')]);
    const ids = [...first.content, ...second.content].flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
    expect(new Set(ids).size).toBe(3);
  });

  it('writes a title of six words when asked for one', async () => {
    const reply = await ask([user('please tell me how the weather in Ulm is')], {
      system: 'Write a title for it.',
      tools: [],
    });
    expect(reply.content).toEqual([{ type: 'text', text: 'please tell me how the weather' }]);
  });

  it('stops at an abort', async () => {
    const abort = new AbortController();
    const request = { model: 'script/demo', system: '', messages: [user('a b c d e f g h i j')], tools: [] };
    const stop = (delta: ModelDelta) => {
      if (delta.type === 'text') abort.abort(new Error('stop'));
    };
    await expect(collectReply(streamScript(request, abort.signal), stop)).rejects.toThrow('stop');
  });
});

it('lets other work have its turn during a long reply', async () => {
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  await ask([user('word '.repeat(10_000))]);
  clearImmediate(next);
  expect(turns).toBeGreaterThan(2);
});

describe('script/demo in a goal and in a long conversation', () => {
  const say = async (system: string, text: string) => {
    const { content } = await ask([user(text)], { system });
    return content.map((part) => ('text' in part ? part.text : '')).join('');
  };
  const question = (goal: string, reply: string) => `Goal:\n${goal}\n\nLatest reply:\n${reply}`;

  it('reports a goal as reached once the reply contains the expected text', async () => {
    const goal = 'run: wc -l < log\nuntil: 3';
    expect(readVerdict(await say(JUDGE_SYSTEM, question(goal, 'terminal: 2')))).toMatchObject({ kind: 'continue' });
    expect(readVerdict(await say(JUDGE_SYSTEM, question(goal, 'terminal: 3')))).toMatchObject({ kind: 'done' });
    expect(readVerdict(await say(JUDGE_SYSTEM, question('Be nice.', 'ok')))).toMatchObject({ kind: 'done' });
    expect(readVerdict(await say(JUDGE_SYSTEM, question('blocked: no key', 'ok')))).toEqual({
      kind: 'blocked',
      reason: 'no key',
    });
  });

  it('sums up in few words', async () => {
    const lines = `[user] one ${'x'.repeat(5000)}\n\n[assistant] two`;
    const summary = await say(SUMMARY_SYSTEM, `Text:\n<conversation>\n${lines}\n</conversation>\n\nShort.`);
    expect(summary).toMatch(/^Done: 2 messages[\s\S]*\[user\] one/);
    expect(summary.length).toBeLessThan(400);
  });
});
