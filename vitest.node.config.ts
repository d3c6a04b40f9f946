import { defineConfig } from 'vitest/config';

/** What runs on nodes of Kubernetes, in pods: `make test-cluster`. */
export default defineConfig({
  test: {
    include: ['test/cluster/node/**/*.test.ts'],
    testTimeout: 400_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
  },
});
