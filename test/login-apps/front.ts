import { createServer, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that reached an application, and the application's response. */
export type Knock = {
  method: string;
  /** with its query */
  path: string;
  body: string;
  /** as it was sent; empty without one */
  authorization: string;
  headers: IncomingHttpHeaders;
  status: number;
};

export type Front = { url: string; knocks: Knock[]; close(): Promise<void> };

/**
 * A proxy in front of an application on 127.0.0.1: forwards everything unchanged and keeps a log, because the log of
 * some applications does not separate attempts.
 */
export async function openFront(port: number): Promise<Front> {
  const knocks: Knock[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const knock = { method, path, body: '', authorization: headers.authorization ?? '', headers, status: 0 };
    knocks.push(knock);
    const onward = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      knock.status = answer.statusCode ?? 0;
      outgoing.writeHead(knock.status, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.on('data', (chunk: Buffer) => (knock.body += chunk.toString()));
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    knocks,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Requests with a body to a path with this prefix. */
export const posts = (path: string) => (knock: Knock) => knock.method === 'POST' && knock.path.startsWith(path);
