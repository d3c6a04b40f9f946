import { StartupError } from '../errors.ts';
import type { RoleContext, Started } from './role.ts';

type Start = (context: RoleContext) => Promise<Started>;

/** One process, one role; `all` is every role but the operator in one process. Each loads what it runs and no more. */
const ROLES = {
  api: async (): Promise<Start> => (await import('./api.ts')).startApi,
  gateway: async (): Promise<Start> => (await import('./gateway.ts')).startGateway,
  worker: async (): Promise<Start> => (await import('./worker.ts')).startWorkerRole,
  login: async (): Promise<Start> => (await import('./login.ts')).startLogin,
  video: async (): Promise<Start> => (await import('./video.ts')).startVideo,
  all: async (): Promise<Start> => (await import('./all.ts')).startAll,
} as const;

export type RoleName = keyof typeof ROLES;

/** Throws `StartupError` for a name that is none. */
export function readRole(name: string | undefined): RoleName | 'operator' {
  if (name === 'operator') return name;
  if (name !== undefined && Object.hasOwn(ROLES, name)) return name as RoleName;
  const names = [...Object.keys(ROLES), 'operator'].join(', ');
  throw new StartupError(`Usage: node src/main.ts <role>, where the role is one of ${names}.`);
}

export function loadRole(name: RoleName): Promise<Start> {
  return ROLES[name]();
}
