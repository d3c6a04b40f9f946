import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Message = { id?: number; method: string; params?: { name?: string; arguments?: Record<string, unknown> } };
export type Asked = { headers: IncomingMessage['headers']; message: Message; reply: ServerResponse };

/** A small server with configurable protocol errors. */
export type TestMcp = {
  url: string;
  asked: { method: string; authorization: string | undefined; session: string | undefined }[];
  /** Handles each request first; true: it has responded. */
  intercept: (asked: Asked) => boolean;
  /** the response to `tools/list` */
  tools: unknown;
  /** what `tools/call` answers, by the tool's name */
  call: (name: string, input: Record<string, unknown>, asked: Asked) => unknown;
  /** Forgets every session. */
  forget(): void;
  close(): void;
};

export const ECHO = {
  name: 'echo',
  description: 'Says it again',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};

export function answer(reply: ServerResponse, id: number | undefined, result: unknown, headers: object = {}): void {
  reply.writeHead(200, { 'content-type': 'application/json', ...headers });
  reply.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

export async function startTestMcp(): Promise<TestMcp> {
  let sessions = new Set<string>();
  let made = 0;
  const http = createServer((request, reply) => {
    if (request.method === 'DELETE') return void reply.writeHead(200).end();
    if (request.method !== 'POST') return void reply.writeHead(405).end();
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => handle({ headers: request.headers, message: JSON.parse(body) as Message, reply }));
  });
  const handle = (asked: Asked) => {
    const { headers, message, reply } = asked;
    const session = headers['mcp-session-id'];
    server.asked.push({
      method: message.method,
      authorization: headers.authorization,
      session: typeof session === 'string' ? session : undefined,
    });
    if (server.intercept(asked)) return;
    if (message.method === 'initialize') {
      const id = `session-${(made += 1)}`;
      sessions.add(id);
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'test', version: '1' },
        instructions: 'Call echo before wipe.',
      };
      return answer(reply, message.id, result, { 'mcp-session-id': id });
    }
    if (typeof session !== 'string' || !sessions.has(session)) return void reply.writeHead(404).end();
    if (message.id === undefined) return void reply.writeHead(202).end();
    if (message.method === 'tools/list') return answer(reply, message.id, server.tools);
    if (message.method !== 'tools/call') return void reply.writeHead(400).end();
    const { name = '', arguments: input = {} } = message.params ?? {};
    const result = server.call(name, input, asked);
    if (result !== undefined) answer(reply, message.id, result);
  };
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server: TestMcp = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    asked: [],
    intercept: () => false,
    tools: { tools: [ECHO] },
    call: (_name, input) => ({ content: [{ type: 'text', text: String(input['text']) }] }),
    forget: () => {
      sessions = new Set();
    },
    close() {
      http.close();
      http.closeAllConnections();
    },
  };
  return server;
}
