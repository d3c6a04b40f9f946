import { describe, expect, it } from 'vitest';
import { findLateSteers } from '../../../../src/agents/log/turns.ts';
import { addDayNotes } from '../../../../src/agents/loop/history/day-notes.ts';
import { buildHistory } from '../../../../src/agents/loop/history/build.ts';
import type { ModelMessage } from '../../../../src/inference/model.ts';
import { openTestLog } from '../log.ts';

type TestLog = ReturnType<typeof openTestLog>;

const MARK = 'm4rk';
const read = ({ log }: TestLog) => buildHistory(log, MARK).map(({ message }) => message);

/** A conversation with one line per message. */
function show(messages: readonly ModelMessage[]): string[] {
  const parts = (content: readonly { type: string; text?: string }[]) =>
    content.map((part) => part.text ?? `<${part.type}>`).join(' + ');
  return messages.map((message) => {
    if (message.role === 'tool') return `tool: ${message.results.map(({ content }) => parts(content)).join(' | ')}`;
    return `${message.role}: ${parts(message.content)}`;
  });
}

function startTurn(text = 'Go.'): TestLog {
  const log = openTestLog();
  log.begin(log.message(text));
  log.nextStep();
  return log;
}

describe('a history', () => {
  it('of prompts and replies takes turns', () => {
    const log = startTurn('one');
    log.say('1');
    log.end();
    log.begin(log.message('two'));
    log.nextStep();
    log.say('2');
    expect(show(read(log))).toEqual(['user: one', 'assistant: 1', 'user: two', 'assistant: 2']);
  });

  it('has turns in the order in which they began, not in that of their prompts', () => {
    const log = openTestLog();
    const queued = log.message('queued');
    const first = log.message('first');
    log.begin(first);
    log.nextStep();
    log.say('1');
    log.end();
    log.begin(queued);
    expect(show(read(log))).toEqual(['user: first', 'assistant: 1', 'user: queued']);
  });

  it('leaves out prompts that still wait', () => {
    const log = startTurn();
    log.message('later');
    expect(show(read(log))).toEqual(['user: Go.']);
  });

  it('has each step with its results in the order of the calls', () => {
    const log = startTurn();
    log.think('Hm.', { signature: 's', issuer: 'acme/small' });
    log.say('Looking.');
    const [first, second] = [log.plan('read_file', '{"path":"a"}'), log.plan('terminal')];
    log.use(first, { path: 'a' });
    log.use(second);
    log.result(second, 'second');
    log.result(first, 'first', { isError: true });
    log.nextStep();
    log.say('Done.');
    expect(read(log)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', signature: 's', issuer: 'acme/small' },
          { type: 'text', text: 'Looking.' },
          { type: 'tool_call', id: first.callId, name: 'read_file', arguments: '{"path":"a"}' },
          { type: 'tool_call', id: second.callId, name: 'terminal', arguments: '{}' },
        ],
      },
      {
        role: 'tool',
        results: [
          { callId: first.callId, content: [{ type: 'text', text: 'first' }], isError: true },
          { callId: second.callId, content: [{ type: 'text', text: 'second' }], isError: false },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
    ]);
  });

  it('gives arguments back as the model wrote them', () => {
    const log = startTurn();
    const call = log.plan('terminal', '{ "command" : "ls" ');
    log.use(call, { raw: call.arguments });
    expect(read(log)[1]).toMatchObject({ content: [{ arguments: '{ "command" : "ls" ' }] });
  });

  it('says so where a call has no result', () => {
    const log = startTurn();
    const call = log.plan('terminal');
    log.use(call);
    expect(read(log).at(-1)).toMatchObject({
      role: 'tool',
      results: [{ callId: call.callId, isError: true, content: [{ text: expect.stringContaining('interrupted') }] }],
    });
  });

  it('tells apart calls of two replies that the model gave the same id', () => {
    const log = startTurn();
    const first = { ...log.plan('terminal'), callId: 'call_0' };
    log.use(first);
    log.result(first, 'one');
    log.nextStep();
    const second = { ...log.plan('terminal'), callId: 'call_0' };
    log.use(second);
    log.result(second, 'two');
    expect(show(read(log)).filter((line) => line.startsWith('tool'))).toEqual(['tool: one', 'tool: two']);
  });

  it('has redacted reasoning without text, and images behind the text of a result', () => {
    const log = startTurn();
    log.think(' ', { redacted: 'xyz', issuer: 'acme/small' });
    const call = log.plan('vision_analyze');
    log.use(call);
    const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' };
    log.result(call, 'seen', { images: [image] });
    const [, said, results] = read(log);
    expect(said).toMatchObject({ content: [{ type: 'reasoning', text: '', redacted: 'xyz' }, { type: 'tool_call' }] });
    expect(results).toMatchObject({ results: [{ content: [{ type: 'text', text: 'seen' }, image] }] });
  });

  it('has answers of the application and of the user as results', () => {
    const log = startTurn();
    const [custom, failed, mended, question] = [
      log.plan('lookup'),
      log.plan('lookup'),
      log.plan('lookup'),
      log.plan('clarify', '{"question":"Why?"}'),
    ];
    for (const call of [custom, failed, mended]) log.customUse(call);
    log.clarify(question, 'Why?');
    log.pause();
    log.clarifyResult(question, 'Because.');
    log.customResult(mended, 'three', { status: 'failed', is_error: false });
    log.customResult(failed, 'two', { status: 'failed' });
    log.customResult(custom, 'one');
    expect(read(log).at(-1)).toMatchObject({
      results: [
        { content: [{ text: 'one' }], isError: false },
        { content: [{ text: 'two' }], isError: true },
        { content: [{ text: 'three' }], isError: false },
        { content: [{ text: '{"user_response":"Because."}' }], isError: false },
      ],
    });
  });

  it('has the final result in the place of the start of long work, and the turn that it opened', () => {
    const log = startTurn();
    const call = log.plan('lookup');
    log.customUse(call);
    const kickoff = log.customResult(call, 'started', { status: 'running' });
    log.nextStep();
    log.say('It runs.');
    log.end();
    Object.assign(kickoff.payload, { status: 'completed', content: [{ type: 'text', text: 'forty-two' }] });
    const content = [{ type: 'text' as const, text: 'forty-two' }];
    const final = { kind: 'tool_final', toolUseId: call.useId, toolName: 'lookup', isError: false, content } as const;
    log.begin({ ...final, eventId: null });
    log.begin({ ...final, isError: true, eventId: null });
    expect(show(read(log))).toEqual([
      'user: Go.',
      'assistant: <tool_call>',
      'tool: forty-two',
      'assistant: It runs.',
      'user: [The earlier call of lookup has completed. Its final result:]\nforty-two',
      'user: [The earlier call of lookup has failed. Its final result:]\nforty-two',
    ]);
  });

  it('has a late final result, which nothing waited for, in its own turn only', () => {
    const log = startTurn();
    const call = log.plan('lookup');
    log.customUse(call);
    log.result(call, 'too late', { isError: true });
    log.end();
    const late = log.customResult(call, 'at last', { status: 'completed' });
    const content = [{ type: 'text' as const, text: 'at last' }];
    log.begin({
      kind: 'tool_final',
      toolUseId: call.useId,
      toolName: 'lookup',
      isError: false,
      content,
      eventId: late.id,
    });
    late.turnId = log.log.at(-1)?.turnId ?? null;
    expect(show(read(log)).slice(2)).toEqual(['tool: too late', expect.stringMatching(/^user: .*at last$/s)]);
    expect(findLateSteers(log.log)).toBeUndefined();
  });

  it('has attachments behind the text of the prompt they came with, and only names them later', () => {
    const log = openTestLog();
    const source = { type: 'data_url', dataUrl: 'data:application/pdf;base64,' } as const;
    const attachment = { type: 'file', filename: 'c.pdf', mediaType: 'application/pdf', source } as const;
    const message = log.message('Look.', { attachments: [attachment] });
    log.begin(message);
    const shown = [{ type: 'text' as const, text: 'what it says' }];
    const prompt = { type: 'text', text: 'Look.' };
    const eventId = log.log.find((event) => event.type === 'user.message')?.id ?? '';
    expect(buildHistory(log.log, 'm', new Map([[eventId, shown]])).map((entry) => entry.message)).toEqual([
      { role: 'user', content: [prompt, ...shown] },
    ]);
    expect(read(log)).toEqual([
      {
        role: 'user',
        content: [
          prompt,
          {
            type: 'text',
            text: expect.stringMatching(
              /^\[Attached file: c\.pdf \(application\/pdf\); .*ask the user to attach it again/,
            ),
          },
        ],
      },
    ]);
  });

  it('opens with a notice where one opened the turn', () => {
    const log = openTestLog();
    log.begin({ kind: 'notice', text: '[Background process 1 ended]', eventId: null });
    expect(show(read(log))).toEqual(['user: [Background process 1 ended]']);
  });
});

it('a turn on another day than the session begins with the day', () => {
  const log = openTestLog();
  for (const text of ['First', 'Second']) {
    log.begin(log.message(text));
    log.nextStep();
    log.say('ok');
    log.end();
  }
  const days = ['2026-01-01', '2026-01-02'];
  let turn = -1;
  const dated = log.log.map((event) => {
    if (event.type === 'session.status_running') turn += 1;
    return { ...event, createdAt: `${days[Math.max(turn, 0)]}T23:59:00.000Z` };
  });
  const entries = addDayNotes(buildHistory(dated, MARK), dated, '2026-01-01');
  expect(show(entries.map(({ message }) => message))).toEqual([
    'user: First',
    'assistant: ok',
    'user: [Today is Friday, 2 January 2026.] + Second',
    'assistant: ok',
  ]);
});
