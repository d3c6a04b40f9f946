import { defineConfig } from 'vitest/config';

/** Real applications, signed in to by the login service: `make test-login-apps`. */
export default defineConfig({
  test: {
    include: ['test/login-apps/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    // Each file has browsers and applications of its own.
    fileParallelism: false,
  },
});
