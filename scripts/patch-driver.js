import { readFileSync, writeFileSync } from 'node:fs'

/*
 * Mends faults of postgres.js 3.4.9 that a restart of PostgreSQL brings out: a statement on a connection
 * that has just closed, such as the ROLLBACK of a transaction that lost it, ends the whole process with a
 * TypeError, and so does a connection that closes while it asks for the types of arrays, as it does first
 * of all; a connection that closes with a write pending never sends anything again; and what was left
 * unanswered shifts the answers of the next session. The pool is used up one connection at a time.
 *
 * Runs after every install. Another version of the driver stops here, so that somebody looks.
 */

const mended = '/* mended by plotbase */'

const changes = [
  {
    // Refuse what can't be sent instead of scheduling a write to a socket that is gone. "True" leaves the
    // connection where it is: anything else would move it to those that are busy, for ever.
    from: `  function execute(q) {
    if (terminated)`,
    to: `  function execute(q) { ${mended}
    if (!socket || socket.destroyed)
      return queryError(q, Errors.connection('CONNECTION_CLOSED', options)), true

    if (terminated)`,
  },
  {
    // Begin the next session with nothing left of the last: no pending write, no answer of a dead server, no
    // statement that waits behind another.
    from: `    socket.removeAllListeners()
    socket = null

    if (initial)
      return reconnect()

    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
`,
    to: `    socket.removeAllListeners()
    socket = chunk = nextWriteTimer = errorResponse = null

    if (initial)
      return (query = results = null, reconnect())

    ;(query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
    query = results = null
`,
  },
  {
    // Nobody waits for this promise. The next connection asks again.
    from: `        return fetchArrayTypes()
`,
    to: `        return fetchArrayTypes().catch(() => (needsTypes = true))
`,
  },
]

for (const file of ['src/connection.js', 'cjs/src/connection.js']) {
  const path = new URL(`../node_modules/postgres/${file}`, import.meta.url)
  const source = readFileSync(path, 'utf8')
  if (source.includes(mended)) continue
  if (!changes.every(({ from }) => source.includes(from))) {
    process.stderr.write(
      `patch-driver: postgres/${file} is not the version this was written for; check whether it is still needed.\n`,
    )
    process.exit(1)
  }
  writeFileSync(
    path,
    changes.reduce((text, { from, to }) => text.replace(from, to), source),
  )
}
