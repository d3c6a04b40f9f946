import { defineConfig } from 'vitest/config';

/** What runs on an API server of Kubernetes without nodes: `make test-cluster`. */
export default defineConfig({
  test: {
    include: ['test/cluster/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    pool: 'forks',
  },
});
