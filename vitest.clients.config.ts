import { defineConfig } from 'vitest/config';

/** Coding clients as they are published, through the gateway: `make test-clients`. */
export default defineConfig({
  test: {
    include: ['test/real-clients/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Each client is a process of hundreds of megabytes.
    fileParallelism: false,
  },
});
