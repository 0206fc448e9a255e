import { defineConfig } from 'vitest/config';

const conditions = ['rollmesh-source'];

export default defineConfig({
  // The package in the checkout is its sources.
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 600_000,
    isolate: false,
    execArgv: ['--conditions=rollmesh-source'],
  },
});
