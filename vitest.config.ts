import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // `make test-cluster`: they need an API server of Kubernetes, which takes minutes to build.
    // `make test-clients`: they need 770 MB of clients.
    // `make test-login-apps`: they need applications that people sign in to.
    exclude: ['test/cluster/**', 'test/real-clients/**', 'test/login-apps/**', 'node_modules/**'],
    globalSetup: ['test/support/global-setup.ts'],
    // Limits that say "never", not "slow": a busy machine takes its time.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    // More than half of the time is spent in waiting for servers, browsers and killed processes.
    maxWorkers: '100%',
  },
});
