import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { runKubectl } from './kubectl.ts';

const run = promisify(execFile);
const HELM = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'capstan/helm/v3.22.0/helm');

export const CHART = fileURLToPath(new URL('../../../charts/capstan', import.meta.url));
/** The least that has to be set. */
export const IMAGES = 'image.repository=example.test/capstan,sandbox.image=example.test/sandbox:1';

/** The path of helm. Undefined where it has not been built; with CAPSTAN_REQUIRE_ALL=1 that is an error. */
export function findHelm(): string | undefined {
  if (existsSync(HELM)) return HELM;
  if (process.env['CAPSTAN_REQUIRE_ALL'] === '1') {
    throw new Error('helm is missing: scripts/cluster/build-helm.sh gets it');
  }
  return undefined;
}

/** The cluster of this run, where there is a helm to install the chart with. */
export async function findChartCluster(): Promise<Cluster | undefined> {
  return findHelm() === undefined ? undefined : findCluster();
}

/** What helm prints. Throws with what it complains of. */
export async function runHelm(args: readonly string[]): Promise<string> {
  return (await run(HELM, args, { maxBuffer: 2 ** 24 })).stdout;
}

/** The manifests of a release `demo` in this namespace, with these values set. */
export function renderChart(namespace: string, ...sets: string[]): Promise<string> {
  return runHelm(['template', 'demo', CHART, '--namespace', namespace, ...sets.flatMap((set) => ['--set', set])]);
}

/** Those that give somebody rights. */
export function pickRights(manifests: string): string[] {
  return manifests.split(/^---$/m).filter((text) => /^kind: (ServiceAccount|Role|RoleBinding)$/m.test(text));
}

/** What the API server warns of, printed by kubectl on standard error; empty when all is well. */
export function applyFile(cluster: Cluster, file: string, ...options: string[]): Promise<string> {
  return runKubectl(cluster, ['apply', '--server-side', '--force-conflicts', '-f', file, ...options], 'stderr');
}
