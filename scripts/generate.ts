import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { referenceOf } from '../src/app.ts'
import { settings } from '../src/config.ts'

/*
 * Writes what is derived from the code: the reference and the table of settings in the README.
 * With --check nothing is written, and the exit code tells whether anything would be.
 */

const root = new URL('../', import.meta.url)
const checkOnly = process.argv.includes('--check')

const urls = { production: 'http://127.0.0.1:3000', sandbox: 'http://127.0.0.1:3001' }

function settingsTable(): string {
  const rows = Object.entries(settings).map(
    ([name, { shown, description }]) => `| \`${name}\` | ${shown ? `\`${shown}\`` : ''} | ${description} |`,
  )
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n')
}

async function readme(): Promise<string> {
  const text = await readFile(new URL('README.md', root), 'utf8')
  const marked = /(<!-- settings -->\n)[\s\S]*?(<!-- \/settings -->)/
  if (!marked.test(text)) throw new Error('README.md has lost its settings markers')
  return text.replace(marked, (_all, open, close) => `${open}\n${settingsTable()}\n\n${close}`)
}

const files: Record<string, string> = {
  'docs/reference/openapi.json': `${JSON.stringify(referenceOf(urls), null, 2)}\n`,
  'README.md': await readme(),
}

const stale: string[] = []
for (const [name, content] of Object.entries(files)) {
  const file = new URL(name, root)
  const present = await readFile(file, 'utf8').catch(() => '')
  if (present === content) continue
  stale.push(name)
  if (checkOnly) continue
  await mkdir(dirname(fileURLToPath(file)), { recursive: true })
  await writeFile(file, content)
}

if (checkOnly && stale.length > 0) {
  process.stderr.write(`Out of date: ${stale.join(', ')}. Run "npm run generate" and commit the result.\n`)
  process.exit(1)
}
process.stdout.write(
  stale.length === 0 ? 'Generated files are up to date.\n' : `Wrote ${stale.join(', ')}.\n`,
)
