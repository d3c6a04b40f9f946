// Tests: test/gateway/upstream-list.test.ts
import type { FastifyInstance } from 'fastify';
import type { GatewayInference } from '../../inference/inference.ts';
import type { Upstream as State } from '../../inference/upstream-health.ts';
import type { HttpDeps } from '../../platform/http/deps.ts';
import { registerRoute } from '../../platform/http/route.ts';
import type { Logger } from '../../platform/log.ts';
import { upstreamRoutes } from '../contract/upstreams.ts';
import type { Upstream } from '../contract/upstreams.ts';

type Deps = HttpDeps & { inference: GatewayInference; log: Logger };

function renderUpstream(state: State, models: number): Upstream {
  const { name, format, isOwn, breaker, lastErrorAt, lastErrorCode, latencyMs } = state;
  return {
    object: 'upstream',
    name,
    format,
    source: isOwn ? 'organization' : 'server',
    breaker,
    lastErrorAt: lastErrorAt === null ? null : new Date(lastErrorAt).toISOString(),
    lastErrorCode,
    latencyMs: latencyMs === null ? null : Math.round(latencyMs),
    models,
  };
}

export function registerUpstreamRoutes(app: FastifyInstance, deps: Deps): void {
  registerRoute(app, deps, upstreamRoutes.listUpstreams, async ({ caller }) => {
    const inference = deps.inference.forOrganization(caller.organizationId);
    const models = inference.listModels().map(({ name }) => name);
    const data = inference
      .listUpstreams()
      .map((state) => renderUpstream(state, models.filter((name) => name.startsWith(`${state.name}/`)).length));
    return { status: 200, body: { object: 'list', data } };
  });
}
