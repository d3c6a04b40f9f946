// Tests: test/sandbox/token.test.ts, test/sandbox/port.test.ts
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { sendError, sendJson } from './answer/frames.ts';
import { answerRequest } from './answer/routes.ts';
import type { Surface } from './answer/routes.ts';
import { describeError } from './executor-error.ts';
import { openNotices } from './processes/notices.ts';
import { openQuotaLedger } from './files/quota.ts';
import { openDigests } from './files/digest.ts';
import { openProcessTable } from './processes/table.ts';
import { openCalls } from './receive/calls.ts';
import { serveLink } from './link/serve.ts';
import { enforceProcessLimit } from './run/process-limit.ts';
import { openScripts } from './run/script.ts';
import { openShell } from './run/shell.ts';
import type { Settings } from './settings.ts';

export type ExecutorServer = { close(): Promise<void> };

/** `authorize` guards everything but `/healthz`; without it only a Unix socket is allowed. */
export async function startServer(
  settings: Settings,
  authorize?: (request: IncomingMessage) => boolean,
): Promise<ExecutorServer> {
  if (authorize === undefined && !settings.listen.startsWith('unix:')) {
    throw new Error('an executor on TCP needs a way to tell its callers');
  }
  const quota = openQuotaLedger(settings.workspace, settings.volumeBytes);
  const shell = openShell(settings, () => quota.recent() ?? 0);
  const notices = openNotices();
  const processes = openProcessTable(shell, notices);
  const surface: Surface = {
    settings,
    shell,
    scripts: openScripts(shell, settings),
    processes,
    notices,
    quota,
    digests: openDigests(),
    calls: openCalls(),
  };
  const server = createServer((request, response) => {
    if (request.url !== '/healthz' && authorize?.(request) === false) {
      sendJson(response, 401, { error: { kind: 'input', code: 'EACCES', message: 'not authorized' } });
      return;
    }
    answerRequest(surface, request, response).catch((error: unknown) => {
      sendError(response, describeError(error, requestPath(request)));
    });
  });
  const parts = { root: settings.workspace, quota, digests: surface.digests };
  server.on('upgrade', (request, socket, first) => {
    // a token authorizes one request, not a long-lived connection, so callers with tokens cannot use the link
    if (authorize === undefined && request.url === '/v1/link') serveLink(parts, socket, first);
    else socket.destroy();
  });
  // calls may run for 10 minutes and notices for ever; timeouts are the caller's responsibility
  server.requestTimeout = 0;
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (settings.listen.startsWith('unix:')) {
      server.listen(settings.listen.slice('unix:'.length), resolve);
    } else {
      const colon = settings.listen.lastIndexOf(':');
      server.listen(Number(settings.listen.slice(colon + 1)), settings.listen.slice(0, colon), resolve);
    }
  });
  const stopGuard = settings.ownPids ? enforceProcessLimit(settings.maxProcesses) : () => undefined;
  return {
    async close() {
      stopGuard();
      server.close();
      server.closeAllConnections();
      await processes.close();
    },
  };
}

function requestPath(request: IncomingMessage): string {
  return new URL(request.url ?? '/', 'http://executor').searchParams.get('path') ?? 'file';
}
