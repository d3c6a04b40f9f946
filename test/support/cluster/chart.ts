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
/** The minimal settings. */
export const IMAGES = 'image.repository=example.test/capstan,sandbox.image=example.test/sandbox:1';

/** The path of helm. Undefined if it has not been built; with CAPSTAN_REQUIRE_ALL=1 that is an error. */
export function findHelm(): string | undefined {
  if (existsSync(HELM)) return HELM;
  if (process.env['CAPSTAN_REQUIRE_ALL'] === '1') {
    throw new Error('helm is missing: scripts/cluster/build-helm.sh gets it');
  }
  return undefined;
}

/** The cluster of this run, if helm is available to install the chart. */
export async function findChartCluster(): Promise<Cluster | undefined> {
  return findHelm() === undefined ? undefined : findCluster();
}

/** The output of helm. Throws its error output. */
export async function runHelm(args: readonly string[]): Promise<string> {
  return (await run(HELM, args, { maxBuffer: 2 ** 24 })).stdout;
}

/** The manifests of a release `demo` in this namespace, with these values set. */
export function renderChart(namespace: string, ...sets: string[]): Promise<string> {
  return runHelm(['template', 'demo', CHART, '--namespace', namespace, ...sets.flatMap((set) => ['--set', set])]);
}

/** Manifests that grant rights. */
export function pickRights(manifests: string): string[] {
  return manifests.split(/^---$/m).filter((text) => /^kind: (ServiceAccount|Role|RoleBinding)$/m.test(text));
}

/** Warnings of the API server, printed by kubectl on standard error; empty if there are none. */
export function applyFile(cluster: Cluster, file: string, ...options: string[]): Promise<string> {
  return runKubectl(cluster, ['apply', '--server-side', '--force-conflicts', '-f', file, ...options], 'stderr');
}
