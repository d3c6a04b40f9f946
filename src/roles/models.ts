import { StartupError } from '../platform/errors.ts';
import { openInference } from '../inference/inference.ts';
import type { Inference } from '../inference/model.ts';
import { openRemoteInference } from '../inference/remote.ts';
import type { RoleContext } from './role.ts';

const opened = new WeakMap<RoleContext<unknown>, Promise<Inference>>();

async function open({ config, lifecycle, log }: RoleContext<unknown>): Promise<Inference> {
  const { providers, models, gateway } = config;
  const inference = lifecycle.use(
    'inference',
    gateway === undefined ? openInference({ providers, models, log }) : await openRemoteInference({ ...gateway, log }),
  );
  const { fallbackModel } = config.login;
  if (fallbackModel !== undefined && inference.findModel(fallbackModel) === undefined) {
    throw new StartupError(`login.fallbackModel: ${fallbackModel} is no configured model.`);
  }
  return inference;
}

/** The process's own calls of models, shared by its roles. Throws a `StartupError` for a model that there is none of. */
export function openModels(context: RoleContext<unknown>): Promise<Inference> {
  const inference = opened.get(context) ?? open(context);
  opened.set(context, inference);
  return inference;
}
