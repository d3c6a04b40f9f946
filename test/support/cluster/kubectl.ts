import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findKubectl } from '../services/kubernetes.ts';
import type { Cluster } from './cluster.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The output of kubectl, run in the repository's root and the cluster's namespace. Throws its error output. */
export async function runKubectl(
  cluster: Cluster,
  args: string[],
  output: 'stdout' | 'stderr' = 'stdout',
): Promise<string> {
  const kubectl = findKubectl();
  if (kubectl === undefined) throw new Error('kubectl is missing: scripts/cluster/install-control-plane.sh gets it');
  const where = [
    '--kubeconfig',
    cluster.kubeconfig,
    '--namespace',
    cluster.namespace,
    '--cache-dir',
    '/tmp/capstan-kubectl',
  ];
  return (await promisify(execFile)(kubectl, [...where, ...args], { cwd: ROOT }))[output];
}
