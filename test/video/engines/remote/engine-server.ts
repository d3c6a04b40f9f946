import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Asked = { method: string; path: string; query: URLSearchParams; headers: Headers; body: Buffer };
export type Answer = {
  status?: number;
  json?: unknown;
  bytes?: Buffer;
  type?: string;
  headers?: Record<string, string>;
};

/** How the engine behind a server of a test behaves; a test changes it on the way. */
export type Behaviour = {
  /** status requests before the job starts */
  waits: number;
  /** its final status */
  end: 'done' | 'failed' | 'moderated' | 'never' | 'lost';
  /** answers given before anything else, per kind of request */
  submitTroubles: Answer[];
  lookTroubles: Answer[];
  resultTroubles: Answer[];
  /** whether a job reports progress */
  tellsProgress: boolean;
  result: Answer;
};

export type EngineServer = {
  url: string;
  asked: Asked[];
  behaviour: Behaviour;
  /** jobs that were started and cancelled, by the engine's own id */
  started: string[];
  cancelled: string[];
  close(): void;
};

/** The protocol's response to a request; undefined is 404. */
export type Speak = (asked: Asked, server: EngineServer) => Answer | undefined;

export async function startEngineServer(speak: Speak, result: Answer): Promise<EngineServer> {
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://engine');
      const headers = new Headers(request.headers as Record<string, string>);
      const method = request.method ?? '';
      const asked = { method, path: pathname, query: searchParams, headers, body: Buffer.concat(chunks) };
      server.asked.push(asked);
      send(response, speak(asked, server) ?? { status: 404, json: { detail: 'Not found.' } });
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server: EngineServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    asked: [],
    started: [],
    cancelled: [],
    behaviour: {
      waits: 2,
      end: 'done',
      submitTroubles: [],
      lookTroubles: [],
      resultTroubles: [],
      tellsProgress: true,
      result,
    },
    close() {
      http.close();
      http.closeAllConnections();
    },
  };
  return server;
}

function send(response: ServerResponse, { status = 200, json, bytes, type, headers }: Answer): void {
  const body = bytes ?? Buffer.from(json === undefined ? '' : JSON.stringify(json));
  // No status: the connection breaks off.
  if (status === 0) response.destroy();
  else response.writeHead(status, { 'content-type': type ?? 'application/json', ...headers }).end(body);
}

/** The status of a job at the next request. */
export function takeLook({ behaviour }: EngineServer): 'waiting' | Exclude<Behaviour['end'], 'never'> {
  if (behaviour.end === 'never') return 'waiting';
  if (behaviour.waits <= 0) return behaviour.end;
  behaviour.waits -= 1;
  return 'waiting';
}

/** The parts of a multipart body: texts as they are, files by their name and size. */
export async function readForm(
  asked: Asked,
): Promise<Record<string, string | { name: string; size: number; type: string }>> {
  const type = asked.headers.get('content-type') ?? '';
  const form = await new Response(asked.body, { headers: { 'content-type': type } }).formData();
  const entries = [...form.entries()].map(([key, value]) => {
    return [key, typeof value === 'string' ? value : { name: value.name, size: value.size, type: value.type }] as const;
  });
  return Object.fromEntries(entries);
}

export const readJsonBody = (asked: Asked | undefined): Record<string, unknown> =>
  JSON.parse(asked?.body.toString('utf8') ?? '{}') as Record<string, unknown>;
