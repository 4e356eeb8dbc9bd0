#!/usr/bin/env node
// npm puts the pinned Node first on the path of its scripts and of npx; called any other way, an older one may answer.
if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(
    `plotbase: this is Node ${process.versions.node}, Plotbase needs 24; start it with "npm start" or "npx plotbase", which bring their own.\n`,
  )
  process.exit(1)
}
await import('../src/main.ts')
