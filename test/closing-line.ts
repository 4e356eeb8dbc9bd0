import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with one plain line that scripts can read. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    )
    const count = (state: string) => states.filter((each) => each === state).length
    const brokenFiles = modules.filter(
      (module) => module.state() === 'failed' && [...module.children.allTests('failed')].length === 0,
    )
    process.stdout.write(
      `${count('passed')} passed, ${count('failed') + brokenFiles.length} failed, ${count('skipped')} skipped\n`,
    )
  }
}
