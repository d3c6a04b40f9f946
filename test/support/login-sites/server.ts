import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomToken } from '../../../src/platform/crypto.ts';

/** One request to a site, read. */
export type Visit = {
  method: string;
  /** below the site's own prefix, beginning with a slash */
  path: string;
  query: URLSearchParams;
  cookies: Record<string, string>;
  headers: IncomingMessage['headers'];
  form: URLSearchParams;
  json: Record<string, string>;
  /** where the site is, without a slash at the end */
  base: string;
};

export type Reply = {
  status?: number;
  headers?: Record<string, string | string[]>;
  /** HTML, or an object for JSON */
  body?: string | object;
  /** where to go */
  to?: string;
  /** the connection breaks instead */
  breaks?: true;
};

/** A kind of site: its pages and its sign-in. */
export type SiteKind = {
  name: string;
  /** the page to begin on; default `/login` */
  entry?: string;
  serve(visit: Visit, accounts: Accounts): Reply | Promise<Reply>;
};

/** Accounts, sessions and attempts: every check of a password, code or token counts. */
export type Accounts = {
  attempts: { username: string; ok: boolean }[];
  /** the account that every site has; tests add others */
  passwords: Map<string, string>;
  sessions: Map<string, string>;
  check(username: string, password: string): boolean;
  /** a `set-cookie` line for a new session */
  begin(username: string, attributes?: string): string;
  /** the account of a visit's session */
  who(visit: Visit): string | undefined;
};

export const USER = 'ada@example.com';
export const PASSWORD = 'Correct-horse7 & "staple"';

const COOKIE = 'sid';

function openAccounts(): Accounts {
  const accounts: Accounts = {
    attempts: [],
    passwords: new Map([[USER, PASSWORD]]),
    sessions: new Map(),
    check(username, password) {
      const ok = accounts.passwords.get(username) === password;
      accounts.attempts.push({ username, ok });
      return ok;
    },
    begin(username, attributes = 'HttpOnly; SameSite=Lax') {
      const token = randomToken(24);
      accounts.sessions.set(token, username);
      return `${COOKIE}=${token}; Path=/; ${attributes}`;
    },
    who: ({ cookies }) => accounts.sessions.get(cookies[COOKIE] ?? ''),
  };
  return accounts;
}

/** The page behind the login of most sites, visible only with a session. */
export function serveAccount(visit: Visit, accounts: Accounts): Reply | undefined {
  const user = accounts.who(visit);
  if (visit.path === '/account') {
    if (user === undefined) return { to: `${visit.base}/login` };
    return {
      body: page('Your account', `<h1>Hello ${user}</h1><p>Protected.</p><a href="${visit.base}/logout">Log out</a>`),
    };
  }
  return undefined;
}

export function page(title: string, body: string, head = ''): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>${head}
    <style>body{font:16px sans-serif;margin:40px} .error{color:#b00020} input,button,select{font:inherit;padding:6px;margin:4px 0}</style>
    </head><body>${body}</body></html>`;
}

async function read(request: IncomingMessage, prefix: string): Promise<Visit> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  const isJson = (request.headers['content-type'] ?? '').includes('json');
  const cookies = (request.headers.cookie ?? '').split(/; */).flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at), pair.slice(at + 1)]];
  });
  return {
    method: request.method ?? 'GET',
    path: url.pathname.slice(prefix.length) || '/',
    query: url.searchParams,
    cookies: Object.fromEntries(cookies) as Record<string, string>,
    headers: request.headers,
    form: new URLSearchParams(isJson ? '' : text),
    json: isJson ? (JSON.parse(text) as Record<string, string>) : {},
    base: url.origin + prefix,
  };
}

function write(response: ServerResponse, { status, headers = {}, body = '', to, breaks }: Reply): void {
  if (breaks === true) return void response.destroy();
  const isJson = typeof body === 'object';
  response.writeHead(status ?? (to === undefined ? 200 : 303), {
    'content-type': isJson ? 'application/json' : 'text/html; charset=utf-8',
    ...(to === undefined ? {} : { location: to }),
    ...headers,
  });
  response.end(isJson ? JSON.stringify(body) : body);
}

export type LoginSites = {
  port: number;
  /** the page to begin on */
  url(name: string): string;
  /** a page that is visible only with a session */
  protectedUrl(name: string): string;
  accounts(name: string): Accounts;
  /** clears attempts and sessions */
  reset(): void;
  close(): Promise<void>;
};

/** Serves each kind below a path of its own name; on a free port of loopback unless told. */
export async function startLoginSites(
  kinds: readonly SiteKind[],
  { host = '127.0.0.1', port: wanted = 0 }: { host?: string; port?: number } = {},
): Promise<LoginSites> {
  const all = new Map(kinds.map((kind) => [kind.name, { kind, accounts: openAccounts() }]));
  const find = (name: string) => {
    const found = all.get(name);
    if (found === undefined) throw new Error(`no site ${name}`);
    return found;
  };
  const server = createServer((request, response) => {
    const name = (request.url ?? '').split(/[/?]/)[1] ?? '';
    const site = all.get(name);
    if (site === undefined) return void response.writeHead(404).end();
    const answer = async () => {
      const visit = await read(request, `/${name}`);
      write(response, await site.kind.serve(visit, site.accounts));
    };
    answer().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(wanted, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: (name) => `http://${host}:${port}/${name}${find(name).kind.entry ?? '/login'}`,
    protectedUrl: (name) => `http://${host}:${port}/${name}/account`,
    accounts: (name) => find(name).accounts,
    reset() {
      for (const { accounts } of all.values()) {
        accounts.attempts.length = 0;
        accounts.sessions.clear();
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
