import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTraceExporter } from '../../src/platform/telemetry/exporter.ts';
import type { Chat } from '../support/chat.ts';
import { prompt } from '../support/chat.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import { callTool, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

/** `CAPSTAN_TRACE_TURNS=1000` for a long run. */
const TURNS = Number(process.env['CAPSTAN_TRACE_TURNS'] ?? 16);
const PARENT = 'b7ad6b7169203331';

let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>;
let exporter: ReturnType<typeof openTraceExporter>;
let service: Service;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  exporter = openTraceExporter({ url: `${receiver.url}/v1/traces`, serviceName: 'turns' });
  service = await startService({ workers: 2, traces: { exporter, content: false } });
});
afterAll(async () => {
  await service.close();
  await exporter.close();
  await receiver.close();
});

async function send(chat: Chat, traceId: string): Promise<void> {
  const response = await fetch(`${service.api.url}/v1/sessions/${chat.id}/events`, {
    method: 'POST',
    headers: {
      'x-api-key': service.key,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${PARENT}-01`,
    },
    body: JSON.stringify({ events: [prompt('Hello')] }),
  });
  expect(response.status).toBe(200);
}

/** The kinds of turns: with a tool, with an answer between two workers, and taken over in the middle of a model call. */
const KINDS: readonly ((chat: Chat, traceId: string) => Promise<void>)[] = [
  async (chat, traceId) => {
    service.model.play(callTool('todo', { todos: [] }), say('Done.'));
    await send(chat, traceId);
  },
  async (chat, traceId) => {
    service.model.play(callTool('write_file', { path: 'a.txt', content: 'x' }), say('Done.'));
    await send(chat, traceId);
    const request = await chat.next('agent.approval_request');
    await chat.next('session.status_idle');
    await chat.send({ type: 'user.approval_response', approval_id: request.id, result: 'deny' });
  },
  async (chat, traceId) => {
    const over = Promise.withResolvers<void>();
    service.model.play(async () => {
      await over.promise;
      return say('Too late.');
    }, say('Done.'));
    await send(chat, traceId);
    await service.model.request(0);
    await service.db.query(
      `UPDATE sessions SET lease_owner = 'gone', lease_expires = now() - interval '1 second', wake_at = now()
       WHERE id = $1`,
      [chat.id],
    );
    await service.model.request(1);
    over.resolve();
  },
];

it(`${TURNS} of ${TURNS} turns are one connected trace each, takeovers included`, async () => {
  const traces: string[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const chat = await service.api.openChat();
    const traceId = randomBytes(16).toString('hex');
    traces.push(traceId);
    await KINDS[turn % KINDS.length]?.(chat, traceId);
    await chat.next(
      ({ type, payload }) =>
        type === 'session.status_idle' && (payload['stop_reason'] as { type: string }).type === 'end_turn',
    );
    chat.close();
  }
  const spans = () => receiver.exports.flatMap((each) => each.spans);
  const ends = () => spans().filter(({ name, parentId }) => name === 'invoke_agent Ada' && parentId === PARENT);
  await expect.poll(() => new Set(ends().map(({ traceId }) => traceId)).size).toBe(TURNS);
  const faults = traces.flatMap((traceId, turn) => {
    const own = spans().filter((span) => span.traceId === traceId);
    const ids = new Set(own.map(({ spanId }) => spanId));
    const roots = own.filter(({ parentId }) => parentId === PARENT).map(({ name }) => name);
    const loose = own.filter(({ parentId }) => parentId !== PARENT && !ids.has(parentId)).map(({ name }) => name);
    const continued = own.filter(({ name, links }) => name === 'continue_turn' && links.length > 0).length;
    const isWhole = roots.length === 1 && loose.length === 0 && own.some(({ name }) => name.startsWith('chat '));
    // Only the first kind runs to its end on one worker.
    const isLinked = turn % KINDS.length === 0 ? continued === 0 : continued > 0;
    return isWhole && isLinked ? [] : [{ turn, roots, loose, continued }];
  });
  expect(faults).toEqual([]);
});
