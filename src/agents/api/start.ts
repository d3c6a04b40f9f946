import type { ServerOptions } from '../../platform/http/server.ts';
import type { ListenOptions } from '../../platform/http/start.ts';
import { startHttp } from '../../platform/http/start.ts';
import type { ApiPorts } from './deps.ts';
import { buildServer } from './server.ts';

/** Serves the API alone until closed. Throws `StartupError` when the address cannot be had. */
export function startApi(ports: ApiPorts, options: ListenOptions & ServerOptions): ReturnType<typeof startHttp> {
  return startHttp(buildServer(ports, options), options);
}
