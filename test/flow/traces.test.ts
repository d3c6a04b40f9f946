import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLog } from '../../src/platform/log.ts';
import { openTraceExporter } from '../../src/platform/telemetry/exporter.ts';
import type { Chat } from '../support/chat.ts';
import { ECHO, startTestMcp } from '../support/mcp/server.ts';
import type { Asked, TestMcp } from '../support/mcp/server.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import type { ReceivedSpan } from '../support/otlp-receiver.ts';
import { callTool, callTools, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

const CANARY = 'canary-9d2c';

let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>;
let exporter: ReturnType<typeof openTraceExporter>;
let service: Service;
let server: TestMcp;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  exporter = openTraceExporter({ url: `${receiver.url}/v1/traces`, serviceName: 'flow' });
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const log = openLog({ level: 'debug', pretty: false, destination });
  service = await startService({ traces: { exporter, content: false }, log });
  server = await startTestMcp();
  server.tools = { tools: [{ ...ECHO, annotations: { readOnlyHint: true } }] };
});
afterAll(async () => {
  await service.close();
  await exporter.close();
  await receiver.close();
  server.close();
});

const newTrace = () => randomBytes(16).toString('hex');
const PARENT = 'b7ad6b7169203331';

function received(traceId: string): ReceivedSpan[] {
  return receiver.exports.flatMap(({ spans }) => spans).filter((span) => span.traceId === traceId);
}

/** The spans of a trace once its turn is among them. */
async function awaitTrace(traceId: string): Promise<ReceivedSpan[]> {
  await expect
    .poll(() => received(traceId).some(({ name }) => name.startsWith('invoke_agent Ada')), { timeout: 60_000 })
    .toBe(true);
  return received(traceId);
}

/** Sends a prompt under a trace of the caller's, and waits for the end or the question of its turn. */
async function promptTraced(chat: Chat, text: string, headers: Record<string, string>): Promise<void> {
  const response = await fetch(`${service.api.url}/v1/sessions/${chat.id}/events`, {
    method: 'POST',
    headers: { 'x-api-key': service.key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ events: [{ type: 'user.message', content: [{ type: 'text', text }] }] }),
  });
  expect(response.status).toBe(200);
  await chat.next('session.status_idle');
}

/** Rows of texts in an order of their own. */
const sort = (rows: readonly unknown[][]) =>
  rows.map((row) => JSON.stringify(row)).toSorted((left, right) => left.localeCompare(right, 'en'));

const namesOf = (spans: readonly ReceivedSpan[]) =>
  sort(spans.map((span) => [span.name, spans.find(({ spanId }) => spanId === span.parentId)?.name ?? span.parentId]));

type Shown = {
  resourceSpans: { scopeSpans: { spans: { spanId: string; parentSpanId?: string; name: string }[] }[] }[];
};

async function showTrace(chat: Chat): Promise<(readonly [name: string, spanId: string, parentId: string])[]> {
  const { body } = await service.api.call<Shown>('GET', `/v1/sessions/${chat.id}/trace`);
  const spans = body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans).flatMap((scope) => scope.spans);
  return spans.map(({ spanId, parentSpanId, name }) => [name, spanId, parentSpanId ?? ''] as const);
}

describe('the trace of a turn', () => {
  it('goes from the request of the caller to the tools, the model and the MCP server', async () => {
    const agent = await service.api.createAgent({
      mcpServers: [{ type: 'url', name: 'files', url: server.url }],
      tools: [
        { type: 'agent_toolset' },
        {
          type: 'mcp_toolset',
          mcpServerName: 'files',
          defaultConfig: { permissionPolicy: { type: 'always_allow' } },
        },
      ],
    });
    service.model.play(
      callTools([
        ['todo', { todos: [] }],
        ['files__echo', { text: CANARY }],
      ]),
      say(CANARY),
    );
    let call: Asked | undefined;
    server.call = (_name, _input, asked) => {
      call = asked;
      return { content: [{ type: 'text', text: 'said' }] };
    };
    const chat = await service.api.openChat(agent);
    const traceId = newTrace();
    const traceparent = `00-${traceId}-${PARENT}-01`;
    await promptTraced(chat, CANARY, { traceparent, tracestate: 'acme=1' });
    const spans = await awaitTrace(traceId);
    expect(namesOf(spans)).toEqual(
      sort([
        ['chat acme/small', 'invoke_agent Ada'],
        ['chat acme/small', 'invoke_agent Ada'],
        ['execute_tool echo', 'chat acme/small'],
        ['execute_tool todo', 'chat acme/small'],
        ['invoke_agent Ada', PARENT],
        ['tools/call echo', 'execute_tool echo'],
      ]),
    );
    const idOf = (name: string) => spans.find((span) => span.name === name)?.spanId;
    const chats = spans.filter(({ name }) => name.startsWith('chat')).map(({ spanId }) => spanId);
    const asked = service.model.requests.map(({ headers }) => [headers['traceparent'], headers['tracestate']]);
    expect(sort(asked)).toEqual(sort(chats.map((id) => [`00-${traceId}-${id}-01`, 'acme=1'])));
    const told = { traceparent: `00-${traceId}-${idOf('tools/call echo')}-01`, tracestate: 'acme=1' };
    expect(call?.headers).toMatchObject(told);
    expect(call?.message.params).toMatchObject({ _meta: told });
    expect(spans.find(({ name }) => name === 'invoke_agent Ada')?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': agent.id,
      'gen_ai.conversation.id': chat.id,
      'capstan.turn.stop_reason': 'end_turn',
    });
    for (const { bytes } of receiver.exports) expect(bytes.toString('latin1')).not.toContain(CANARY);
    const shown = (await showTrace(chat)).map((row) => [...row]);
    expect(sort(shown)).toEqual(sort(spans.map(({ name, spanId, parentId }) => [name, spanId, parentId])));
    chat.close();
  });

  it('stays one when another worker goes on after an answer', async () => {
    service.model.play(callTool('write_file', { path: 'a.txt', content: 'x' }), say('Done.'));
    const chat = await service.api.openChat();
    const traceId = newTrace();
    await promptTraced(chat, 'go', { traceparent: `00-${traceId}-${PARENT}-01` });
    expect(received(traceId)).toEqual([]);
    const { id: approval } = (await chat.list()).find(({ type }) => type === 'agent.approval_request') ?? { id: '' };
    await chat.send({ type: 'user.approval_response', approval_id: approval, result: 'deny' });
    await chat.next('session.status_idle');
    const spans = await awaitTrace(traceId);
    expect(namesOf(spans)).toEqual(
      sort([
        ['chat acme/small', 'invoke_agent Ada'],
        ['chat acme/small', 'invoke_agent Ada'],
        ['continue_turn', 'invoke_agent Ada'],
        ['execute_tool write_file', 'chat acme/small'],
        ['invoke_agent Ada', PARENT],
      ]),
    );
    const turn = spans.find(({ name }) => name === 'invoke_agent Ada');
    expect(spans.find(({ name }) => name === 'continue_turn')?.links).toEqual([{ traceId, spanId: turn?.spanId }]);
    chat.close();
  });

  it('begins with the turn without a caller, and tells of a failure in spans and in one line of the log', async () => {
    service.model.play({ status: 401, body: '{"error":{"message":"no"}}' });
    const chat = await service.api.openChat();
    lines.length = 0;
    await chat.run('one');
    const [turn] = (await chat.list()).flatMap(({ turnId }) => turnId ?? []);
    const failures = () => lines.filter(({ msg }) => msg === 'turn failed');
    await expect.poll(failures).toHaveLength(1);
    const [line] = failures();
    expect(line).toMatchObject({ sessionId: chat.id, turnId: turn, code: 'upstream_authentication' });
    expect(line).toMatchObject({
      error: expect.any(String),
      organizationId: expect.stringMatching(/^org_/),
      requestId: expect.stringMatching(/^req_/),
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    const spans = await awaitTrace(String(line?.['traceId']));
    expect(namesOf(spans)).toEqual(
      sort([
        ['chat acme/small', 'invoke_agent Ada'],
        ['invoke_agent Ada', ''],
      ]),
    );
    expect(spans.every(({ isError }) => isError)).toBe(true);
    chat.close();
  });

  it('is not exported when the caller does not sample it, but still handed on and shown', async () => {
    service.model.play(say('Hi.'), say('Hi.'));
    const chat = await service.api.openChat();
    const traceId = newTrace();
    await promptTraced(chat, 'one', { traceparent: `00-${traceId}-${PARENT}-00` });
    expect(service.model.requests[0]?.headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    const later = newTrace();
    await promptTraced(chat, 'two', { traceparent: `00-${later}-${PARENT}-01` });
    await awaitTrace(later);
    expect(received(traceId)).toEqual([]);
    const names = (await showTrace(chat)).map(([name]) => name);
    expect(names).toEqual(['invoke_agent Ada', 'chat acme/small', 'invoke_agent Ada', 'chat acme/small']);
    chat.close();
  });
});

it('a log line says once what it belongs to', () => {
  const request = lines.find(({ msg }) => msg === 'request');
  expect(request).toMatchObject({ requestId: expect.any(String), traceId: expect.any(String) });
});
