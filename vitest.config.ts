import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

// Each file has a process of its own, and what they load is compiled once for all of them.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/capstan/compiled', import.meta.url));

// Vitest reads the project to run from the configuration, too, but types it as an option of the command line alone.
const DEFAULT_PROJECT = { project: ['default'] };

/** Clients that only `make test-client-matrix` runs. */
const MATRIX_ALONE = ['test/real-clients/python.test.ts', 'test/real-clients/opencode.test.ts'];

const GLOBAL_SETUP = ['test/support/global-setup.ts'];

/**
 * One project per make target. `vitest run` without `--project` runs `default`; `groupOrder` keeps projects apart that are
 * run together, because each has its own number of workers.
 */
export default defineConfig({
  test: {
    pool: 'forks',
    ...DEFAULT_PROJECT,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // `make test`: unit and flow tests, everything that needs no Kubernetes and no third-party application.
        test: {
          name: 'default',
          include: ['test/**/*.test.ts'],
          exclude: ['test/cluster/**', 'test/real-clients/**', 'test/login-apps/**', 'node_modules/**'],
          globalSetup: GLOBAL_SETUP,
          // Limits that say "never", not "slow": a busy machine takes its time.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 120_000 } },
          pool: 'forks',
          // More files than processors: half of their time is spent waiting for servers, browsers and killed processes.
          maxWorkers: Math.ceil(availableParallelism() * 1.5),
        },
      },
      {
        // `make test-control-plane`: an API server of Kubernetes without nodes, which takes minutes to build.
        test: {
          name: 'cluster',
          include: ['test/cluster/*.test.ts'],
          globalSetup: GLOBAL_SETUP,
          testTimeout: 120_000,
          hookTimeout: 180_000,
          pool: 'forks',
          sequence: { groupOrder: 1 },
        },
      },
      {
        // `make test-node`: in pods on a node of Kubernetes.
        test: {
          name: 'node',
          include: ['test/cluster/node/**/*.test.ts'],
          testTimeout: 400_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 60_000 } },
          pool: 'forks',
          sequence: { groupOrder: 2 },
        },
      },
      {
        // `make test-clients`: published coding clients through the gateway.
        test: {
          name: 'clients',
          include: ['test/real-clients/**/*.test.ts'],
          exclude: MATRIX_ALONE,
          testTimeout: 300_000,
          hookTimeout: 120_000,
          pool: 'forks',
          // Each client is a process of hundreds of megabytes.
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        // `make test-client-matrix`: more published clients through the gateway.
        test: {
          name: 'client-matrix',
          include: MATRIX_ALONE,
          testTimeout: 600_000,
          hookTimeout: 120_000,
          pool: 'forks',
          sequence: { groupOrder: 5 },
        },
      },
      {
        // `make test-login-apps`: the website login on real applications.
        test: {
          name: 'login-apps',
          include: ['test/login-apps/**/*.test.ts'],
          testTimeout: 400_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 30_000 } },
          pool: 'forks',
          // Each file has browsers and applications of its own. One is tested while the other's start.
          maxWorkers: 2,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
