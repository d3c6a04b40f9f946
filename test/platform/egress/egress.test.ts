import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openEgress } from '../../../src/platform/egress/egress.ts';
import type { Egress, EgressOptions } from '../../../src/platform/egress/egress.ts';
import { EgressError, findEgressError } from '../../../src/platform/egress/error.ts';

const SECRET = 'c4n4ry-8d1f';
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function startServer() {
  const seen: IncomingMessage[] = [];
  const bodies: string[] = [];
  let answer: Answer = (_request, response) => response.end('hello');
  const server = createServer((incoming, response) => {
    seen.push(incoming);
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      bodies.push(body);
      answer(incoming, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    seen,
    bodies,
    play(next: Answer) {
      answer = next;
      seen.length = 0;
      bodies.length = 0;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

let server: Awaited<ReturnType<typeof startServer>>;
let other: Awaited<ReturnType<typeof startServer>>;
const opened: Egress[] = [];
const open = (options: EgressOptions): Egress => {
  const egress = openEgress(options);
  opened.push(egress);
  return egress;
};
const reply: Answer = (_request, response) => response.end('hello');

beforeAll(async () => {
  server = await startServer();
  other = await startServer();
});
afterEach(async () => {
  server.play(reply);
  other.play(reply);
  await Promise.all(opened.splice(0).map((egress) => egress.close()));
});
afterAll(() => {
  server.close();
  other.close();
});

async function faultOf(work: Promise<unknown>): Promise<EgressError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const found = findEgressError(error);
  if (found === undefined) throw new Error(`no egress error but ${String(error)}`);
  return found;
}

describe('what is asked', () => {
  it('is reached when the operator has opened it, and refused when not', async () => {
    const answer = await open({ allow: [`127.0.0.1:${server.port}`] }).fetch(server.url);
    expect(await answer.text()).toBe('hello');
    server.play(reply);
    const fault = await faultOf(open({ allow: [] }).fetch(`${server.url}/x?key=${SECRET}`));
    expect(fault.code).toBe('refused');
    expect(fault.message).toContain(`127.0.0.1:${server.port}`);
    expect(fault.message).not.toContain(SECRET);
    expect(server.seen).toHaveLength(0);
  });

  it.each(['0x7f.1', '2130706433', '017700000001', '127.1', '[::1]', '[::ffff:127.0.0.1]', '0'])(
    'is refused as http://%s too',
    async (host) => {
      const fault = await faultOf(open({ allow: [] }).fetch(`http://${host}:${server.port}/`));
      expect(fault.code).toBe('refused');
      expect(server.seen).toHaveLength(0);
    },
  );

  it.each([
    ['file:///etc/passwd', 'bad_url'],
    ['ftp://example.com/', 'bad_url'],
    ['javascript:1', 'bad_url'],
    ['no url', 'bad_url'],
    [`http://me:${SECRET}@example.com/`, 'bad_url'],
  ])('must be a plain http URL, not %s', async (url, fault) => {
    const error = await faultOf(open({ allow: [] }).fetch(url));
    expect(error.code).toBe(fault);
    expect(error.message).not.toContain(SECRET);
  });

  it('is refused when a name resolves to a private address, alone or among public ones', async () => {
    for (const addresses of [['127.0.0.1'], ['1.1.1.1', '127.0.0.1'], ['::ffff:10.0.0.1']]) {
      const egress = open({ allow: [], resolve: async () => addresses });
      const fault = await faultOf(egress.fetch(`http://rebind.test:${server.port}/`));
      expect(fault.code).toBe('refused');
      expect(fault.message).not.toMatch(/10\.0|127\.0/);
      expect((await faultOf(egress.check(`http://rebind.test:${server.port}/`))).code).toBe('refused');
    }
  });

  it('says so when there is no such name', async () => {
    const resolve = () => Promise.reject(new Error('ENOTFOUND'));
    expect((await faultOf(open({ allow: [], resolve }).fetch('http://nowhere.test/'))).code).toBe('unreachable');
    expect((await faultOf(open({ allow: [], resolve: async () => [] }).fetch('http://x.test/'))).code).toBe(
      'unreachable',
    );
  });

  it('connects to the address that was checked, asked for once', async () => {
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      // A second lookup would return another address.
      return [asked === 1 ? '127.0.0.1' : '127.0.0.2'];
    };
    const egress = open({ allow: [`pinned.test:${server.port}`], resolve });
    const answer = await egress.fetch(`http://pinned.test:${server.port}/`);
    expect(await answer.text()).toBe('hello');
    expect(server.seen[0]?.headers.host).toBe(`pinned.test:${server.port}`);
    expect(asked).toBe(1);
  });

  it('is refused at the connection when the name moved after the check', async () => {
    let asked = 0;
    const resolve = async () => [(asked += 1) === 1 ? '1.1.1.1' : '127.0.0.1'];
    const egress = open({ allow: [], resolve });
    await egress.check(`http://rebind.test:${server.port}/`);
    expect((await faultOf(egress.fetch(`http://rebind.test:${server.port}/`))).code).toBe('refused');
    expect(server.seen).toHaveLength(0);
  });

  it('is checked for clients that bring their own requests', async () => {
    const { dispatcher } = open({ allow: [] });
    expect((await faultOf(request(server.url, { dispatcher }))).code).toBe('refused');
    const allowed = await request(server.url, { dispatcher: open({ allow: ['127.0.0.0/8'] }).dispatcher });
    expect(await allowed.body.text()).toBe('hello');
  });
});

describe('redirects', () => {
  const redirectTo = (to: () => string, status = 302): Answer => {
    return (_request, response) => response.writeHead(status, { location: to() }).end();
  };

  it('are refused where they lead to a private address', async () => {
    server.play(redirectTo(() => `${other.url}/secret`));
    const fault = await faultOf(open({ allow: [`127.0.0.1:${server.port}`] }).fetch(server.url));
    expect([fault.code, other.seen.length]).toEqual(['refused', 0]);
    server.play(redirectTo(() => 'file:///etc/passwd'));
    const file = await faultOf(open({ allow: [`127.0.0.1:${server.port}`] }).fetch(server.url));
    expect(file.code).toBe('bad_url');
  });

  it('keep credentials within the origin and drop them across origins', async () => {
    server.play((incoming, response) => {
      if (incoming.url === '/') response.writeHead(302, { location: '/next' }).end();
      else response.writeHead(307, { location: other.url }).end();
    });
    const egress = open({ allow: ['127.0.0.0/8'] });
    const headers = { authorization: SECRET, cookie: SECRET, 'x-api-key': SECRET, accept: 'text/plain' };
    const answer = await egress.fetch(server.url, { headers });
    expect(await answer.text()).toBe('hello');
    expect(server.seen[1]?.headers.authorization).toBe(SECRET);
    expect(JSON.stringify(other.seen[0]?.rawHeaders)).not.toContain(SECRET);
    expect(other.seen[0]?.headers.accept).toBe('text/plain');
  });

  it('change the method as browsers do', async () => {
    const egress = open({ allow: ['127.0.0.0/8'] });
    const ask = async (status: number) => {
      server.play(redirectTo(() => other.url, status));
      other.play(reply);
      await (await egress.fetch(server.url, { method: 'POST', body: 'data' })).text();
      return [other.seen[0]?.method, other.bodies[0]];
    };
    expect(await ask(303)).toEqual(['GET', '']);
    expect(await ask(301)).toEqual(['GET', '']);
    expect(await ask(308)).toEqual(['POST', 'data']);
  });

  it('end after five', async () => {
    let count = 0;
    server.play((_request, response) => response.writeHead(302, { location: `/${(count += 1)}` }).end());
    const fault = await faultOf(open({ allow: ['127.0.0.0/8'] }).fetch(server.url));
    expect([fault.code, server.seen.length]).toEqual(['too_many_redirects', 6]);
  });

  it('are handed over when the caller follows them itself', async () => {
    server.play(redirectTo(() => other.url));
    const answer = await open({ allow: ['127.0.0.0/8'] }).fetch(server.url, { redirect: 'manual' });
    expect([answer.status, other.seen.length]).toEqual([302, 0]);
  });
});

describe('bounds', () => {
  const egress = () => open({ allow: ['127.0.0.0/8'] });

  it('hold for the declared, the real and the unpacked size', async () => {
    server.play((_request, response) => response.end(Buffer.alloc(2000)));
    expect((await faultOf(egress().fetch(server.url, { maxBytes: 1999 }))).code).toBe('too_large');
    server.play((_request, response) => {
      response.write(Buffer.alloc(1000));
      response.end(Buffer.alloc(1000));
    });
    const chunked = await egress().fetch(server.url, { maxBytes: 1999 });
    expect((await faultOf(chunked.text())).code).toBe('too_large');
    server.play((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1_000_000)));
    });
    const packed = await egress().fetch(server.url, { maxBytes: 100_000 });
    expect((await faultOf(packed.text())).code).toBe('too_large');
    const whole = await egress().fetch(server.url, { maxBytes: 1_000_000 });
    expect((await whole.arrayBuffer()).byteLength).toBe(1_000_000);
  });

  it('hold for the time to the headers and to the end of the body', async () => {
    server.play(() => {});
    expect((await faultOf(egress().fetch(server.url, { timeoutMs: 50 }))).code).toBe('timeout');
    server.play((_request, response) => void response.write('begin'));
    const begun = await egress().fetch(server.url, { timeoutMs: 1000 });
    expect((await faultOf(begun.text())).code).toBe('timeout');
  });

  it("end with the caller's signal, with its reason", async () => {
    server.play(() => {});
    const abort = new AbortController();
    const work = egress().fetch(server.url, { signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
  });

  it('name the unreachable service and nothing else', async () => {
    const closed = await startServer();
    closed.close();
    const fault = await faultOf(
      egress().fetch(`${closed.url}/p?token=${SECRET}`, { headers: { authorization: SECRET } }),
    );
    expect(fault).toBeInstanceOf(EgressError);
    expect(fault.message).toBe(`127.0.0.1:${closed.port} could not be reached (ECONNREFUSED).`);
  });
});
