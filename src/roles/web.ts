// Tests: test/console/serve.test.ts
import { buildConsoleRoutes } from '../console/serve.ts';
import { buildRootRoute } from '../platform/http/root.ts';
import type { RoutePlugin } from '../platform/http/server.ts';
import type { BareContext } from './context.ts';

/** What a browser finds on a server of the API: the console, unless it is off, and the way there. */
export function buildWebRoutes({ config, log }: BareContext): RoutePlugin[] {
  const root = buildRootRoute({ console: config.console });
  if (!config.console) return [root];
  return [root, buildConsoleRoutes({ log, publicUrl: config.video.publicUrl })];
}
