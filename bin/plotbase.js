#!/usr/bin/env -S node --max-semi-space-size=16 --max-old-space-size=768
// Node sizes its heap for the machine, not for us. With these the process peaks at about 210 instead of 300 MB under
// load, and collects more often for it: lists take a tenth more processor time. 768 MB is many times what it holds.
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
