import multipart from '@fastify/multipart';
import { registerBodyParser } from '../platform/http/body.ts';
import type { RoutePlugin } from '../platform/http/server.ts';
import { registerAssetRoutes } from './catalog/assets.ts';
import { registerCatalogRoutes } from './catalog/catalog-routes.ts';
import type { VideoDeps, VideoPorts } from './deps.ts';
import { sendVideoError } from './errors.ts';
import { registerGenerationRoutes } from './generations/generation-routes.ts';
import { registerReferenceRoutes } from './references/reference-routes.ts';
import { registerSharePages } from './share/share-routes.ts';

/** The routes of the video service. They have an error shape of their own. */
export function buildVideoSurface(ports: VideoPorts): RoutePlugin {
  return (app, http) => {
    const deps: VideoDeps = { ...ports, ...http };
    void app.register(async (scope) => {
      scope.setErrorHandler((error, request, reply) => sendVideoError(deps.log, error, request, reply));
      registerBodyParser(scope);
      await scope.register(multipart);
      registerGenerationRoutes(scope, deps);
      registerReferenceRoutes(scope, deps);
      registerCatalogRoutes(scope, deps);
      registerAssetRoutes(scope, deps);
      registerSharePages(scope, deps);
    });
  };
}
