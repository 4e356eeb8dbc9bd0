import type { Config } from '../config.ts'
import type { FirstStart } from '../features/first-start/bootstrap.ts'

/** What a person reads after the start. Secrets are in it once: they can't be shown again. */
export function banner(config: Config, first: FirstStart | undefined, seconds: number): string {
  const { production, sandbox } = config.urls
  const rows: [string, string][] = [
    ['API', production],
    ['Sandbox', sandbox],
    ['Reference', `${production}/docs`],
    ...(first ? firstRows(first) : []),
  ]
  const lines = rows.map(([name, value]) => `  ${name.padEnd(12)}${value}`)
  const call = first && [
    '',
    '  Shown once: keep the password and the keys. A first call:',
    '',
    `  curl ${production}/v1/properties -H "Authorization: Bearer ${first.keys.production}"`,
  ]
  return ['', `Plotbase is ready (${seconds} s).`, '', ...lines, ...(call ?? []), '', ''].join('\n')
}

const firstRows = ({ workspace, ownerEmail, ownerPassword, keys }: FirstStart): [string, string][] => [
  ['Workspace', `${workspace.name} (${workspace.id})`],
  ['Owner', ownerEmail],
  ['Password', ownerPassword],
  ['Live key', keys.production],
  ['Test key', keys.sandbox],
]
