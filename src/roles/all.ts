import { buildApiSurface } from '../agents/api/server.ts';
import { SERVICE_DOCUMENTS } from './documents.ts';
import { buildGatewaySurface } from '../gateway/gateway-routes.ts';
import { isUnknownSdkRoute, sendSdkError } from '../gateway/unknown-routes.ts';
import { buildDocsRoutes } from '../platform/http/docs/docs-routes.ts';
import { sendError } from '../platform/http/errors.ts';
import { listSessionBackends } from '../platform/http/health.ts';
import { openRegistry } from '../platform/http/metrics.ts';
import { buildObjectRoutes } from '../platform/http/objects.ts';
import { buildHttpServer } from '../platform/http/server.ts';
import { sendLoginError } from '../login/errors.ts';
import { buildLoginRoutes } from '../login/routes.ts';
import { sendVideoError } from '../video/errors.ts';
import { buildVideoSurface } from '../video/video-routes.ts';
import { buildApiPorts } from './api.ts';
import { buildWebRoutes } from './web.ts';
import { openGatewayPorts } from './gateway.ts';
import { openLoginPorts, receiveMail } from './login.ts';
import { readServerOptions, serve } from './role.ts';
import type { RoleContext, Started } from './role.ts';
import { openRenderer } from './video.ts';
import { runWorker } from './worker.ts';

const LOGIN_PATHS = /^\/api\/(?:logins?|signup|refresh|challenges|credentials)(?:[/?]|$)/;

/** What no route takes is answered in the shape of the service whose paths are the nearest. */
const sendNearestError: typeof sendError = (log, error, request, reply) => {
  if (isUnknownSdkRoute(request)) return sendSdkError(log, error, request, reply);
  const isLogin = LOGIN_PATHS.test(request.url);
  const send = isLogin ? sendLoginError : request.url.startsWith('/api/') ? sendVideoError : sendError;
  send(log, error, request, reply);
};

export async function startAll(context: RoleContext): Promise<Started> {
  const registry = openRegistry();
  // Started first, so closed after the API: what was accepted last can still be watched to its end.
  await runWorker(context, registry);
  const ports = { ...(await buildApiPorts(context)), registry };
  const loginPorts = await openLoginPorts(context, { registry, warm: false });
  await receiveMail(context, loginPorts);
  const surfaces = [
    buildApiSurface(ports),
    buildGatewaySurface(await openGatewayPorts(context)),
    buildLoginRoutes(loginPorts),
    buildVideoSurface(await openRenderer(context, registry)),
    buildObjectRoutes(ports.objects),
    buildDocsRoutes(SERVICE_DOCUMENTS),
    ...buildWebRoutes(context),
  ];
  // No other process takes over its clients.
  const options = { ...readServerOptions(context), lingerMs: 0, sendError: sendNearestError };
  return serve(
    context,
    'server',
    buildHttpServer({ ...ports, backends: listSessionBackends(ports) }, surfaces, options),
  );
}
