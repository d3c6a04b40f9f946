import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The reference server, on either transport. */
export async function startEverything(
  transport: 'streamableHttp' | 'sse',
): Promise<{ url: string; close(): Promise<void> }> {
  const port = await findPort();
  const child = spawn(process.execPath, [PROGRAM, transport], {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port) },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const base = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries += 1) {
    if (
      await fetch(base).then(
        () => true,
        () => false,
      )
    )
      break;
    if (tries > 200 || child.exitCode !== null) throw new Error('the server of everything does not start');
    await sleep(50);
  }
  return {
    url: `${base}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
