import type { TraceExporter } from '../platform/telemetry/exporter.ts';
import type { BareContext } from './context.ts';

/** Where spans go; undefined where no collector is configured. The SDK is loaded only if one is. */
export async function openTraces({ config, lifecycle }: BareContext): Promise<TraceExporter | undefined> {
  const { url, serviceName } = config.traces;
  if (url === undefined) return undefined;
  const { openTraceExporter } = await import('../platform/telemetry/exporter.ts');
  return lifecycle.use('traces', openTraceExporter({ url, serviceName }));
}
