import { GROUP, VERSION } from './resource.ts';

/** The API path of each kind that is used here. */
const ROOTS = {
  sessions: `/apis/${GROUP}/${VERSION}`,
  volumes: `/apis/${GROUP}/${VERSION}`,
  sandboxclasses: `/apis/${GROUP}/${VERSION}`,
  pods: '/api/v1',
  persistentvolumeclaims: '/api/v1',
  events: '/api/v1',
  leases: '/apis/coordination.k8s.io/v1',
  volumesnapshots: '/apis/snapshot.storage.k8s.io/v1',
  deployments: '/apis/apps/v1',
} as const;

export type Plural = keyof typeof ROOTS;

export function buildListPath(namespace: string, plural: Plural): string {
  return `${ROOTS[plural]}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

export function buildPath(namespace: string, plural: Plural, name: string, subresource?: 'status'): string {
  const path = `${buildListPath(namespace, plural)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}
