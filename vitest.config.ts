import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{src,test,sdk,bench,examples}/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // A clone of the template database takes about 100 ms, more on a busy machine.
    hookTimeout: 120_000,
    // Tests with real processes can be starved of time on a shared machine; a fault shows twice.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', './test/closing-line.ts'],
  },
})
