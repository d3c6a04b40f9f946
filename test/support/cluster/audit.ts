import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Cluster } from './cluster.ts';

/** One request, as recorded by the API server itself. */
export type Noted = {
  /** get, list, watch, create, update, patch, delete */
  verb: string;
  /** with its subresource: `sessions/status` */
  resource: string;
  name: string | undefined;
  status: number;
  /** of the request body */
  body: { status?: { phase?: string }; reason?: string } | undefined;
};

type Line = {
  user: { username: string };
  verb: string;
  objectRef?: { resource: string; subresource?: string; name?: string };
  responseStatus?: { code: number };
  requestObject?: Noted['body'];
};

/** The log of a control plane that the tests started; a given one does not share its log. */
export const findAuditLog = (cluster: Cluster): string | undefined => {
  const path = join(dirname(cluster.kubeconfig), 'audit.log');
  return existsSync(path) ? path : undefined;
};

/** The requests of a service account of the cluster's namespace, in order; watches by their start. */
export function readAudit(cluster: Cluster, account: string): Noted[] {
  const path = findAuditLog(cluster);
  if (path === undefined) return [];
  const username = `system:serviceaccount:${cluster.namespace}:${account}`;
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines
    .map((line) => JSON.parse(line) as Line)
    .filter(({ user, objectRef }) => user.username === username && objectRef !== undefined)
    .map(({ verb, objectRef, responseStatus, requestObject }) => ({
      verb,
      resource: [objectRef?.resource, objectRef?.subresource].filter((part) => part !== undefined).join('/'),
      name: objectRef?.name,
      status: responseStatus?.code ?? 0,
      body: requestObject,
    }));
}
