import type { ApiPorts } from '../agents/api/deps.ts';
import { SCRIPT_MODEL } from '../inference/script.ts';
import type { Config } from './config/config.ts';
import { buildServer } from '../agents/api/server.ts';
import { openProviders } from './providers.ts';
import { readServerOptions, serve } from './role.ts';
import type { RoleContext, Started } from './role.ts';
import { buildWebRoutes } from './web.ts';

/** Why no provider serves a model; undefined where one does, or where another gateway knows. */
export function explainMissing(
  name: string,
  { models, providers, gateway }: Pick<Config, 'models' | 'providers' | 'gateway'>,
): string | undefined {
  if (gateway !== undefined || name === SCRIPT_MODEL || Object.hasOwn(models, name)) return undefined;
  const provider = name.slice(0, name.indexOf('/'));
  const found = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (found === undefined) {
    const key = KEYS[provider];
    const hint = key === undefined ? `add it to providers in capstan.yaml` : `set ${key}`;
    return `No provider is named ${provider}: ${hint}, or turns of this agent fail.`;
  }
  const id = name.slice(provider.length + 1);
  if (found.models === undefined || found.models.some((model) => model.id === id)) return undefined;
  return `The provider ${provider} does not list ${id}: add it to providers.${provider}.models in capstan.yaml.`;
}

/** The variables that add a provider by themselves. */
const KEYS: Readonly<Record<string, string>> = { openai: 'OPENAI_API_KEY', anthropic: 'ANTHROPIC_API_KEY' };

export async function buildApiPorts(context: RoleContext): Promise<ApiPorts> {
  const { config, backends, log } = context;
  const organizations = await openProviders(context);
  const models = {
    has: (name: string) => Object.hasOwn(config.models, name),
    explainMissing(name: string, organizationId: string) {
      const own = organizations.find(organizationId) ?? {};
      return explainMissing(name, { ...config, providers: { ...config.providers, ...own } });
    },
  };
  return { ...backends, log, models, mcpCatalog: config.file.mcpCatalog, traceView: config.traces };
}

export async function startApi(context: RoleContext): Promise<Started> {
  return serve(
    context,
    'api',
    buildServer(await buildApiPorts(context), readServerOptions(context), buildWebRoutes(context)),
  );
}
