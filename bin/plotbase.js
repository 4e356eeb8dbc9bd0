#!/usr/bin/env -S node --max-semi-space-size=16
// The young generation would grow to 64 MB under load: at 16 the process peaks at 225 instead of 305 MB.
import module from 'node:module'
import { fileURLToPath } from 'node:url'

// npm puts the pinned Node first on the path of its scripts and of npx; called any other way, an older one may answer.
if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(
    `plotbase: this is Node ${process.versions.node}, Plotbase needs 24; start it with "npm start" or "npx plotbase", which bring their own.\n`,
  )
  process.exit(1)
}
// A later start finds the types stripped and the code compiled: 25 MB less, and no parser to load. The folder is
// our own: in the shared one under the temporary folder another user could leave code for us.
module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/plotbase', import.meta.url)))
await import('../src/main.ts')
