import { StartupError } from '../platform/errors.ts';
import { openInference } from '../inference/inference.ts';
import type { Inference } from '../inference/model.ts';
import type { OrganizationProviders } from '../inference/organization-models.ts';
import { openRemoteInference } from '../inference/remote.ts';
import type { SharedBackends } from './backends/shared.ts';
import { openProviders } from './providers.ts';
import type { RoleContext } from './role.ts';

const opened = new WeakMap<RoleContext<SharedBackends>, Promise<Inference>>();

/** Calls of an organization's own providers go there directly, all others through the gateway. */
function joinInference(remote: Inference, local: Inference, organizations: OrganizationProviders): Inference {
  const forOrganization = (organization: string): Inference => {
    const own = organizations.find(organization);
    if (own === undefined) return remote;
    const view = local.forOrganization(organization);
    const choose = (model: string) => (Object.hasOwn(own, model.slice(0, model.indexOf('/'))) ? view : remote);
    return {
      forOrganization,
      findModel: (model) => choose(model).findModel(model) ?? remote.findModel(model),
      stream: (request, ...more) => choose(request.model).stream(request, ...more),
      close: () => Promise.resolve(),
    };
  };
  return { ...remote, forOrganization };
}

async function open(context: RoleContext<SharedBackends>): Promise<Inference> {
  const { config, backends, lifecycle, log } = context;
  const { gateway } = config;
  const organizations = await openProviders(context);
  const { providers, models } = gateway === undefined ? config : { providers: {}, models: {} };
  const options = { providers, models, log, organizations, guard: backends.egress.dispatcher };
  const local = lifecycle.use('inference', openInference(options));
  const inference =
    gateway === undefined
      ? local
      : joinInference(
          lifecycle.use('remote inference', await openRemoteInference({ ...gateway, log })),
          local,
          organizations,
        );
  const { fallbackModel } = config.login;
  if (fallbackModel !== undefined && inference.findModel(fallbackModel) === undefined) {
    throw new StartupError(`login.fallbackModel: ${fallbackModel} is no configured model.`);
  }
  return inference;
}

/** The process's own calls of models, shared by its roles. Throws a `StartupError` for a model that there is none of. */
export function openModels(context: RoleContext<SharedBackends>): Promise<Inference> {
  const inference = opened.get(context) ?? open(context);
  opened.set(context, inference);
  return inference;
}
