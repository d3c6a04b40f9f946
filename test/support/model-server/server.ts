import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { UpstreamFormat } from '../../../src/inference/config.ts';
import { FRAMES_TYPE } from '../../../src/inference/event-frames.ts';
import type { ModelReply } from '../../../src/inference/model.ts';
import { encodeBytes, encodeStream, encodeWhole } from './encode.ts';
import { completeReply } from './pieces.ts';
import type { Wire, WireEvent } from './pieces.ts';

export type RecordedRequest = {
  format: UpstreamFormat;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: Wire;
  rawBody: string;
  /** resolves when the head of the answer has been sent */
  begun: Promise<void>;
  /** resolves when the connection ended before the answer did */
  abandoned: Promise<void>;
  /** unsent bytes of the response, as far as this side knows */
  unsent(): number;
};

/** The server's behaviour for one request. By default it answers "ok". */
export type ScriptedAnswer = {
  /** encoded in the format asked for, as a stream where one is asked for */
  reply?: Partial<ModelReply>;
  /** the events of the stream, instead of `reply` */
  events?: (WireEvent | Wire)[];
  /** the whole body, instead of `reply` and `events` */
  body?: string | Uint8Array;
  status?: number;
  headers?: Record<string, string>;
  /** milliseconds before the answer begins */
  delayMs?: number;
  /** bytes of one write to the socket; absent: all at once */
  chunkBytes?: number;
  /** milliseconds between writes */
  gapMs?: number;
  /** the connection is cut after so many bytes of the body */
  cutAfterBytes?: number;
  /** never answers, or never ends its body */
  hang?: 'before-headers' | 'after-body';
};

export type Script = (request: RecordedRequest, number: number) => ScriptedAnswer | Promise<ScriptedAnswer>;

export type ModelServer = {
  /** base URL with the version segment */
  url: string;
  /** in order of arrival */
  requests: RecordedRequest[];
  /** connections accepted so far */
  connections(): number;
  /** From now on each request is answered by `script`; `number` counts from 0 since this call. */
  script(script: Script): void;
  close(): Promise<void>;
};

function formatOf(path: string): UpstreamFormat {
  if (path.includes(':streamGenerateContent') || path.includes(':generateContent')) return 'generate-content';
  if (path.endsWith('/messages')) return 'messages';
  if (path.includes('/converse')) return 'converse';
  return path.endsWith('/responses') ? 'responses' : 'chat-completions';
}

/** Some formats say it in the path. */
function isStreamed({ path, body }: RecordedRequest): boolean {
  return body.stream === true || path.includes(':streamGenerateContent') || path.endsWith('/converse-stream');
}

function buildBody(request: RecordedRequest, answer: ScriptedAnswer): { type: string; body: Buffer } {
  if (answer.body !== undefined) {
    const body = Buffer.from(answer.body as string);
    const stream = request.format === 'converse' ? FRAMES_TYPE : 'text/event-stream';
    return { type: body[0] === 0x7b ? 'application/json' : stream, body };
  }
  const { model: named } = request.body;
  const model = typeof named === 'string' ? named : 'served-model';
  const reply = completeReply({ model, ...answer.reply });
  if (!isStreamed(request)) {
    return { type: 'application/json', body: Buffer.from(JSON.stringify(encodeWhole(request.format, reply))) };
  }
  const events = answer.events?.map((event) =>
    typeof event.data === 'string' ? (event as WireEvent) : { data: JSON.stringify(event) },
  );
  const type = request.format === 'converse' ? FRAMES_TYPE : 'text/event-stream';
  return { type, body: encodeBytes(request.format, events ?? encodeStream(request.format, reply)) };
}

async function writeAnswer(
  request: RecordedRequest,
  answer: ScriptedAnswer,
  response: ServerResponse,
  begin: () => void,
): Promise<void> {
  if (answer.delayMs !== undefined) await delay(answer.delayMs);
  if (answer.hang === 'before-headers') return;
  const { type, body } = buildBody(request, answer);
  response.writeHead(answer.status ?? 200, { 'content-type': type, ...answer.headers });
  // With the first of the body, unless there is none.
  if (body.length === 0) response.flushHeaders();
  begin();
  const end = Math.min(answer.cutAfterBytes ?? body.length, body.length);
  const step = answer.chunkBytes ?? Math.max(end, 1);
  for (let at = 0; at < end && !response.destroyed; at += step) {
    response.write(body.subarray(at, Math.min(at + step, end)));
    // Small writes would be joined on their way otherwise.
    if (at + step < end || answer.cutAfterBytes !== undefined) await delay(answer.gapMs ?? 0);
  }
  if (answer.cutAfterBytes !== undefined) response.destroy();
  else if (answer.hang === undefined) response.end();
}

/** A model provider on 127.0.0.1 that speaks every wire format, plays scripted replies, and misbehaves on demand. */
export async function startModelServer(): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  let current: Script = () => ({});
  let offset = 0;
  let connections = 0;

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const path = incoming.url ?? '';
    const abandoned = new Promise<void>((resolve) => {
      response.once('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const text = Buffer.concat(chunks).toString('utf8');
    // Requests for tokens and uploads are forms.
    const isForm = /^(?:application\/x-www-form-urlencoded|multipart\/)/.test(incoming.headers['content-type'] ?? '');
    const body = (text === '' || isForm ? {} : JSON.parse(text)) as Wire;
    const request = {
      format: formatOf(path),
      path,
      headers: incoming.headers,
      body,
      rawBody: text,
      begun,
      abandoned,
      unsent: () => response.writableLength,
    };
    requests.push(request);
    await writeAnswer(request, await current(request, requests.length - 1 - offset), response, begin);
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    connections: () => connections,
    script(script) {
      current = script;
      offset = requests.length;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
