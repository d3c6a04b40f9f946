import type { GatewayPorts } from '../gateway/deps.ts';
import { openHooks } from '../gateway/hooks/hooks.ts';
import { buildGateway } from '../gateway/server.ts';
import { openInference } from '../inference/inference.ts';
import { openProviders } from './providers.ts';
import { openTraces } from './traces.ts';
import type { SharedBackends } from './backends/shared.ts';
import { readCallDrainMs, readServerOptions, serve } from './role.ts';
import type { RoleContext, Started } from './role.ts';

/** Clients of the gateway try again by themselves, so it does so less than the worker. */
const RETRY = { attempts: 2, baseMs: 250, maxMs: 5000 };

export async function openGatewayPorts(context: RoleContext<SharedBackends>): Promise<GatewayPorts> {
  const { config, backends, lifecycle, log } = context;
  const { providers, models, otel, hooks } = config;
  const { masterKeys, egress } = backends;
  const live = await openProviders(context);
  const inference = lifecycle.use(
    'gateway inference',
    openInference({
      providers,
      models,
      log,
      retry: RETRY,
      breaker: {},
      affinity: true,
      organizations: live,
      guard: egress.dispatcher,
    }),
  );
  const ports = {
    ...backends,
    log,
    inference,
    providers: { live, masterKeys, egress },
    hooks: hooks.length === 0 ? undefined : await openHooks(hooks, { egress, log }),
    tokensPerDay: config.file.limits?.tokensPerDay,
    timing: { drainMs: readCallDrainMs(context) },
    traces: await openTraces(context),
  };
  if (otel === undefined) return ports;
  // The SDK is loaded only if a collector is configured.
  const { openOtelMetrics } = await import('../gateway/usage/otel.ts');
  return { ...ports, metrics: lifecycle.use('otel metrics', openOtelMetrics(otel)) };
}

export async function startGateway(context: RoleContext<SharedBackends>): Promise<Started> {
  return serve(context, 'gateway', buildGateway(await openGatewayPorts(context), readServerOptions(context)));
}
