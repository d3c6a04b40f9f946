import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

// Each file has a process of its own, and what they load is compiled once for all of them.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/capstan/compiled', import.meta.url));

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // `make test-cluster`: they need an API server of Kubernetes, which takes minutes to build.
    // `make test-clients`: they need 770 MB of clients.
    // `make test-login-apps`: they need applications that people sign in to.
    exclude: ['test/cluster/**', 'test/real-clients/**', 'test/login-apps/**', 'node_modules/**'],
    globalSetup: ['test/support/global-setup.ts'],
    // Limits that say "never", not "slow": a busy machine takes its time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    pool: 'forks',
    // More files than processors: half of their time is spent in waiting for servers, browsers and killed processes.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    sequence: { sequencer: LongestFirst },
  },
});
