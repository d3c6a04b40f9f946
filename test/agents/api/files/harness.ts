import { randomUUID } from 'node:crypto';
import { buildServer } from '../../../../src/agents/api/server.ts';
import { volumeFolder } from '../../../../src/sandbox/process/volumes.ts';
import type { ProcessSandboxOptions } from '../../../../src/sandbox/process/options.ts';
import { SCOPES } from '../../../../src/platform/contract/keys.ts';
import type { ErrorBody } from '../../../../src/platform/contract/errors.ts';
import type { Scope } from '../../../../src/platform/contract/keys.ts';
import { createKey } from '../../../../src/platform/store/keys.ts';
import { openTestBackends } from '../../../support/backends.ts';
import { NEVER, openLocalSandboxes } from '../../../support/sandbox.ts';
import type { LocalSandboxes } from '../../../support/sandbox.ts';
import { AGENT } from '../harness.ts';

export type Reply<T> = { status: number; headers: Headers; body: T; bytes: Buffer };
type Query = Record<string, string | number | boolean>;
type Init = { key?: string; body?: unknown; headers?: Record<string, string> };

/** Routes of one subject. `T` is the expected body type; it is not checked. */
export type Subject = {
  id: string;
  /** the volume's folder on this machine */
  folder: string;
  call<T = ErrorBody>(method: string, path: string, query?: Query, init?: Init): Promise<Reply<T>>;
  put(path: string, content: string, more?: object): Promise<Reply<FileBody>>;
  /** names of a listing */
  names(query?: Query): Promise<string[]>;
  text(path: string): Promise<string>;
  /** a command of a session of this subject */
  run(command: string): Promise<string>;
};

export type FileBody = ErrorBody & {
  object: string;
  path: string;
  name: string;
  type: string;
  sizeBytes: number;
  mimeType: string | null;
  checksumSha256: string | null;
  createdAt: string;
  updatedAt: string;
  encoding: string;
  content: string;
};

export type FilesApi = {
  url: string;
  key: string;
  otherKey: string;
  agentId: string;
  local: LocalSandboxes;
  makeKey(scopes: Scope[]): Promise<string>;
  send<T = ErrorBody>(method: string, path: string, init?: Init): Promise<Reply<T>>;
  subject(id?: string): Subject;
  close(): Promise<void>;
};

async function readReply<T>(response: Response): Promise<Reply<T>> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true && bytes.length > 0;
  const body = (isJson ? JSON.parse(bytes.toString('utf8')) : undefined) as T;
  return { status: response.status, headers: response.headers, body, bytes };
}

/** The server on a port, with real volumes. */
export async function openFilesApi(options: Partial<ProcessSandboxOptions> = {}): Promise<FilesApi> {
  const backends = await openTestBackends();
  const local = await openLocalSandboxes(options);
  const app = buildServer({ ...backends, sandboxes: local.sandboxes });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const makeKey = async (organization: string, scopes: Scope[]) =>
    (await createKey(backends.db, { name: 'test', organization, scopes, requestsPerMinute: 1_000_000 })).key;
  const key = await makeKey('default', [...SCOPES]);
  const otherKey = await makeKey('other', [...SCOPES]);

  const send = async <T>(method: string, path: string, init: Init = {}): Promise<Reply<T>> => {
    const { body } = init;
    const isJson = body !== undefined && (body === null || body.constructor === Object || Array.isArray(body));
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        'x-api-key': init.key ?? key,
        ...(isJson ? { 'content-type': 'application/json' } : {}),
        ...init.headers,
      },
      ...(body === undefined
        ? {}
        : { body: (isJson ? JSON.stringify(body) : body) as NonNullable<RequestInit['body']>, duplex: 'half' }),
    });
    return readReply<T>(response);
  };
  const agentId = (await send<{ id: string; organizationId: string }>('POST', '/v1/agents', { body: AGENT })).body.id;
  const { rows } = await backends.db.query<{ id: string }>(`SELECT id FROM organizations WHERE name = 'default'`);
  const organizationId = rows[0]!.id;

  const subject = (id: string = `subject ${randomUUID()}`): Subject => {
    const prefix = `/v1/agents/${agentId}/users/${encodeURIComponent(id)}`;
    const volume = { organizationId, agentId, subjectId: id };
    const own: Subject = {
      id,
      folder: volumeFolder(local.dir, volume),
      call: (method, path, query = {}, init = {}) => {
        const text = new URLSearchParams(
          Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
        ).toString();
        return send(method, `${prefix}${path}${text === '' ? '' : `?${text}`}`, init);
      },
      put: (path, content, more = {}) => own.call('PUT', '/files/content', {}, { body: { path, content, ...more } }),
      async names(query) {
        const reply = await own.call<{ data: FileBody[] }>('GET', '/files', query);
        if (reply.status !== 200) throw new Error(`${reply.status} ${reply.bytes.toString()}`);
        return reply.body.data.map((file) => file.path);
      },
      async text(path) {
        const reply = await own.call(
          'GET',
          '/files/content',
          { path },
          { headers: { accept: 'application/octet-stream' } },
        );
        return reply.status === 200 ? reply.bytes.toString('utf8') : `status ${reply.status}`;
      },
      async run(command) {
        const session = await local.sandboxes.acquire({ ...volume, sessionId: `ses_${id}` }, NEVER);
        return (await session.run({ callId: randomUUID(), command, timeoutMs: 60_000 }, NEVER)).output;
      },
    };
    return own;
  };

  return {
    url,
    key,
    otherKey,
    agentId,
    local,
    makeKey: (scopes) => makeKey('default', scopes),
    send,
    subject,
    async close() {
      await app.close();
      await local.close();
      await backends.close();
    },
  };
}
