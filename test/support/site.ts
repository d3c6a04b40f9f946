import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type SiteAnswer = (response: ServerResponse, request: SiteRequest) => void;
export type SiteRequest = { method: string; url: URL; headers: IncomingMessage['headers']; body: string };

/** A web server for tests: responses by path, and the received requests. */
export type Site = {
  url: string;
  requests: SiteRequest[];
  serve(path: string, answer: SiteAnswer): void;
  close(): void;
};

export async function startSite(): Promise<Site> {
  const answers = new Map<string, SiteAnswer>();
  const requests: SiteRequest[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://site');
      const asked = { method: request.method ?? '', url, headers: request.headers, body };
      requests.push(asked);
      const answer = answers.get(url.pathname);
      if (answer === undefined) response.writeHead(404).end('nothing here');
      else answer(response, asked);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    serve: (path, answer) => void answers.set(path, answer),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export const send =
  (type: string, body: string | Uint8Array, headers: Record<string, string> = {}): SiteAnswer =>
  (response) =>
    response.writeHead(200, { 'content-type': type, ...headers }).end(body);

export const sendJson =
  (value: unknown): SiteAnswer =>
  (response) =>
    send('application/json', JSON.stringify(value))(response, {} as SiteRequest);

export const redirectTo =
  (location: string): SiteAnswer =>
  (response) =>
    response.writeHead(302, { location }).end();
