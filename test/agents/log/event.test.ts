import { glob, readFile } from 'node:fs/promises';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type {
  InternalOf,
  LogEvent,
  LogEventOf,
  NewEvent,
  NewEventOf,
  PayloadOf,
  StepPosition,
} from '../../../src/agents/log/event.ts';
import {
  findPrompt,
  isNested,
  isToolUse,
  readLogEvent,
  resultOf,
  textOf,
  toLogEvent,
} from '../../../src/agents/log/read.ts';
import {
  buildIdle,
  buildInbound,
  buildResult,
  buildTurnStart,
  buildUse,
} from '../../../src/agents/log/build-events.ts';

type Renamed<T, Field extends keyof T> = Omit<T, Field> & { renamed: T[Field] };
type WithPayload<Payload> = { id: string; turnId: null; status: null; payload: Payload };

// Checked by the compiler; at run time they do nothing.
describe('the types of events', () => {
  it('reject an event whose payload has a field under another name', () => {
    expectTypeOf<WithPayload<PayloadOf<'agent.tool_result'>>>().toExtend<NewEvent>();
    expectTypeOf<WithPayload<Renamed<PayloadOf<'agent.tool_result'>, 'is_error'>>>().not.toExtend<NewEvent>();
    expectTypeOf<WithPayload<Renamed<PayloadOf<'agent.tool_use'>, 'evaluated_permission'>>>().not.toExtend<NewEvent>();
    expectTypeOf<WithPayload<Renamed<PayloadOf<'session.status_idle'>, 'stop_reason'>>>().not.toExtend<NewEvent>();
    expectTypeOf<WithPayload<Renamed<PayloadOf<'user.message'>, 'content'>>>().not.toExtend<NewEvent>();
  });

  it('hold the internal fields of their own type only', () => {
    expectTypeOf<InternalOf<'agent.message'>>().toEqualTypeOf<StepPosition & { guidance?: number }>();
    expectTypeOf<InternalOf<'session.title_updated'>>().toBeNever();
    expectTypeOf<NewEventOf<'agent.tool_result'>['internal']>().not.toExtend<InternalOf<'agent.tool_use'>>();
  });

  it('narrow by the type of the event', () => {
    expectTypeOf<Extract<LogEvent, { type: 'agent.tool_use' }>>().toEqualTypeOf<LogEventOf<'agent.tool_use'>>();
    expectTypeOf<LogEventOf<'user.steer'>['payload']['message']>().toBeString();
  });
});

const CALL = { useId: 'evt_use', index: 0, callId: 'call_1', name: 'terminal', arguments: '{"command": "ls"}' };
const SLOT = { turnId: 'trn_1', step: 1, call: CALL };
const AT = { sessionId: 'ses_1', sequence: 1, processedAt: null, createdAt: '2026-01-01T00:00:00.000Z' };

describe('a built event', () => {
  it('is readable by callers, with the position of the call', () => {
    const use = buildUse(SLOT, { toolset: 'terminal', input: { command: 'ls' }, permission: 'allow' });
    expect(use).toEqual({
      id: 'evt_use',
      turnId: 'trn_1',
      status: 'complete',
      payload: {
        type: 'agent.tool_use',
        id: 'evt_use',
        name: 'terminal',
        toolset: 'terminal',
        input: { command: 'ls' },
        evaluated_permission: 'allow',
      },
      internal: { step: 1, index: 0, callId: 'call_1', name: 'terminal', arguments: CALL.arguments },
    });
    const stored = toLogEvent(use, AT);
    expect(isToolUse(stored)).toBe(true);
    expect(isNested(stored)).toBe(false);
  });

  it('names an MCP tool as its server does', () => {
    const mcp = { server: 'files', tool: 'list', operation: 'tool', readOnly: true, idempotent: true } as const;
    const call = { ...CALL, name: 'mcp_files_list', mcp };
    const result = buildResult({ ...SLOT, call }, { content: 'a\nb', isError: false, durationMs: 1.4 });
    expect(result.payload).toEqual({
      type: 'agent.mcp_tool_result',
      tool_use_id: 'evt_use',
      mcp_tool_use_id: 'evt_use',
      name: 'list',
      mcp_server_name: 'files',
      content: [{ type: 'text', text: 'a\nb' }],
      is_error: false,
      duration_ms: 1,
    });
    expect(resultOf(toLogEvent(result, AT))).toEqual({ useId: 'evt_use', text: 'a\nb', images: [], isError: false });
  });

  it('returns its prompt once it is stored', () => {
    const prompt = { kind: 'message', eventId: 'evt_1' } as const;
    expect(findPrompt(toLogEvent(buildTurnStart({ turnId: 'trn_1' }, prompt), AT))).toEqual(prompt);
    const message = buildInbound({ id: 'evt_1', turnId: 'trn_1' }, 'processed', {
      type: 'user.message',
      content: [{ type: 'text', text: 'Hello' }],
    });
    expect(message.processed).toBe(true);
    expect(textOf(message.payload)).toBe('Hello');
    expect(toLogEvent(message, AT)).not.toHaveProperty('processed');
  });

  it('carries usage in the payload and beside it', () => {
    const idle = buildIdle({ id: 'evt_2', turnId: 'trn_1' }, { stop_reason: { type: 'end_turn' } }, { total: 5 });
    expect(idle).toMatchObject({ usage: { total: 5 }, payload: { usage: { total: 5 } } });
    const { internal: _internal, ...envelope } = toLogEvent(idle, AT);
    expect(readLogEvent(envelope, null)).toEqual(toLogEvent(idle, AT));
  });
});

it('is read by its type outside src/agents/log: nobody casts a payload or internal fields', async () => {
  const casts = /\b(?:payload|internal)\b(?:\?\.|\.)?\[['"]|\b(?:payload|internal)(?:\.\w+)? as (?!const)/;
  const found: string[] = [];
  for await (const path of glob('src/agents/**/*.ts')) {
    if (path.startsWith('src/agents/log/')) continue;
    const lines = (await readFile(path, 'utf8')).split('\n');
    found.push(...lines.filter((line) => casts.test(line)).map((line) => `${path}: ${line.trim()}`));
  }
  expect(found).toEqual([]);
});
