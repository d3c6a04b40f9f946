import { openLiveProviders } from '../gateway/providers/live-providers.ts';
import type { LiveProviders } from '../gateway/providers/live-providers.ts';
import type { SharedBackends } from './backends/shared.ts';
import type { RoleContext } from './role.ts';

const opened = new WeakMap<SharedBackends, Promise<LiveProviders>>();

/** The providers that organizations bring, shared by the roles of the process. */
export function openProviders({ backends, lifecycle, log }: RoleContext<SharedBackends>): Promise<LiveProviders> {
  const open = async () => lifecycle.use('providers', await openLiveProviders({ ...backends, log }));
  const live = opened.get(backends) ?? open();
  opened.set(backends, live);
  return live;
}
