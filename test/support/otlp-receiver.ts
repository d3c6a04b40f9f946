import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export type Point = { attributes: Record<string, string>; count: number; sum: number; bounds: number[] };
export type Metric = { name: string; unit: string; points: Point[] };
export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  /** empty for a root */
  parentId: string;
  name: string;
  attributes: Record<string, string>;
  links: { traceId: string; spanId: string }[];
  isError: boolean;
  /** nanoseconds */
  start: bigint;
  end: bigint;
};
export type Export = {
  headers: IncomingMessage['headers'];
  path: string;
  resource: Record<string, string>;
  metrics: Metric[];
  spans: ReceivedSpan[];
  bytes: Buffer;
};

/** The fields of a message of Protocol Buffers, by number; groups do not occur. */
function readFields(bytes: Buffer): Map<number, Buffer[]> {
  const fields = new Map<number, Buffer[]>();
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = readVarint();
    const from = at;
    const type = key & 7;
    if (type === 0) readVarint();
    const size = type === 1 ? 8 : type === 5 ? 4 : type === 2 ? readVarint() : 0;
    const start = type === 0 ? from : at;
    if (type !== 0) at += size;
    const field = Math.floor(key / 8);
    fields.set(field, [...(fields.get(field) ?? []), bytes.subarray(start, at)]);
  }
  return fields;
}

const all = (bytes: Buffer, field: number): Buffer[] => readFields(bytes).get(field) ?? [];
const text = (bytes: Buffer, field: number): string => all(bytes, field)[0]?.toString('utf8') ?? '';

function readAttributes(pairs: Buffer[]): Record<string, string> {
  return Object.fromEntries(pairs.map((pair) => [text(pair, 1), text(all(pair, 2)[0] ?? Buffer.alloc(0), 1)]));
}

function readPoint(bytes: Buffer): Point {
  const bounds = Buffer.concat(all(bytes, 7));
  return {
    attributes: readAttributes(all(bytes, 9)),
    count: Number(all(bytes, 4)[0]?.readBigUInt64LE() ?? 0n),
    sum: all(bytes, 5)[0]?.readDoubleLE() ?? 0,
    bounds: Array.from({ length: bounds.length / 8 }, (_, index) => bounds.readDoubleLE(index * 8)),
  };
}

function readMetric(bytes: Buffer): Metric {
  const points = all(bytes, 9)
    .flatMap((histogram) => all(histogram, 1))
    .map(readPoint);
  return { name: text(bytes, 1), unit: text(bytes, 3), points };
}

const hex = (bytes: Buffer, field: number): string => all(bytes, field)[0]?.toString('hex') ?? '';

function readSpan(bytes: Buffer): ReceivedSpan {
  return {
    traceId: hex(bytes, 1),
    spanId: hex(bytes, 2),
    parentId: hex(bytes, 4),
    name: text(bytes, 5),
    start: all(bytes, 7)[0]?.readBigUInt64LE() ?? 0n,
    end: all(bytes, 8)[0]?.readBigUInt64LE() ?? 0n,
    attributes: readAttributes(all(bytes, 9)),
    links: all(bytes, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    isError: all(bytes, 15).some((status) => all(status, 3)[0]?.readUInt8() === 2),
  };
}

/** A collector on 127.0.0.1 that reads what an exporter of OTLP over HTTP posts. */
export async function startOtlpReceiver() {
  const exports: Export[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
    for (const resource of all(bytes, 1)) {
      const isTraces = request.url === '/v1/traces';
      const items = all(resource, 2).flatMap((scope) => all(scope, 2));
      exports.push({
        headers: request.headers,
        path: request.url ?? '',
        resource: readAttributes(all(resource, 1).flatMap((each) => all(each, 1))),
        metrics: isTraces ? [] : items.map(readMetric),
        spans: isTraces ? items.map(readSpan) : [],
        bytes,
      });
    }
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exports,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
