import pino, { type DestinationStream, type Logger } from 'pino'

// Belt and braces: nothing logs these on purpose, and nothing that holds them gets through by accident.
const secretPaths = [
  'authorization',
  'headers.authorization',
  'req.headers.authorization',
  'headers.cookie',
  'req.headers.cookie',
  '*.password',
  '*.secret',
  '*.token',
  '*.key',
]

export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    redact: { paths: secretPaths, censor: '[secret]' },
    serializers: { err: errorLine },
  }
  return pino(options, destination ?? gatheredOutput())
}

/** Lines are gathered for up to a second and written together: one write a request is what it saves. */
function gatheredOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false, minLength: 4096 })
  setInterval(() => output.flush(), 1_000).unref()
  return output
}

/** What helps to find a fault, without the values that a database error quotes. */
function errorLine(error: Error & { code?: string; constraint_name?: string }): object {
  const cause = error.cause instanceof Error ? errorLine(error.cause) : undefined
  return {
    type: error.name,
    message: error.message,
    code: error.code,
    constraint: error.constraint_name,
    stack: error.stack,
    cause,
  }
}
