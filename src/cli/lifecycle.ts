import type { Logger } from 'pino'

// Ten seconds is what orchestrators grant; this leaves PostgreSQL time for its shutdown.
const graceMs = 9_500

/**
 * Stops in order on SIGTERM and Ctrl-C: requests in flight are finished first. Returns a function
 * that does the same for a reason of our own, with exit code 1.
 */
export function stopOnSignal(log: Logger, undo: () => Promise<void>): (reason: string) => void {
  let stopping = false
  const stop = (reason: string, exitCode: number) => {
    if (stopping) return
    stopping = true
    log.info({ reason }, 'stopping')
    setTimeout(() => exit(log, 'stopped with work left: it took too long', 1), graceMs).unref()
    undo().then(
      () => exit(log, 'stopped', exitCode),
      (error) => exit(log, `could not stop cleanly: ${(error as Error).message}`, 1),
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal, 0))
  return (reason) => {
    process.stderr.write(`Plotbase stops: ${reason}.\n`)
    stop(reason, 1)
  }
}

function exit(log: Logger, message: string, code: number): void {
  log.info(message)
  log.flush(() => process.exit(code))
}
