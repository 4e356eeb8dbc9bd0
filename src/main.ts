import { account } from './cli/account.ts'
import { type Command, helpOf, parseCommand, UsageError } from './cli/command.ts'
import { keys } from './cli/keys.ts'
import { mail } from './cli/mail.ts'
import { migrate } from './cli/migrate.ts'
import { sandbox } from './cli/sandbox.ts'
import { workspace } from './cli/workspace.ts'
import { StartError } from './kernel/start-error.ts'
import { version } from './version.ts'

const part = (summary: string, parts: { api: boolean; worker: boolean }): Command => ({
  summary,
  usage: '',
  // Loaded on demand: the servers' libraries take half a second that no other command should wait for.
  run: async () => {
    const [{ run }, { loadConfig }] = await Promise.all([import('./cli/serve.ts'), import('./config.ts')])
    await run(loadConfig(process.env), parts)
  },
})

/** The plotbase command, on one screen. */
const commands: Record<string, Command> = {
  start: part('Run everything in one process. This is what happens without a command.', {
    api: true,
    worker: true,
  }),
  serve: part('Run the API alone. Several may run on one database.', { api: true, worker: false }),
  work: part('Run the background worker alone. Several may run on one database.', {
    api: false,
    worker: true,
  }),
  migrate,
  keys,
  workspace,
  account,
  sandbox,
  mail,
}

const overview = () =>
  [
    `Plotbase ${version}`,
    '',
    'plotbase [command] [options]',
    '',
    ...Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`),
    '',
    'plotbase <command> --help shows its options. Settings come from the environment: see the README.',
    '',
  ].join('\n')

async function main(argv: string[]): Promise<void> {
  const [name = 'start', ...rest] = argv
  if (['--help', '-h', 'help'].includes(name)) return void process.stdout.write(overview())
  if (['--version', '-v'].includes(name)) return void process.stdout.write(`${version}\n`)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw new UsageError(`there is no command "${name}"; see plotbase --help`)
  const input = parseCommand(command, rest)
  if (input.help) return void process.stdout.write(`${helpOf(name, command)}\n`)
  await command.run(input)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError || error instanceof StartError)
    process.stderr.write(`plotbase: ${error.message}\n`)
  else console.error(error)
  process.exit(error instanceof UsageError ? 2 : 1)
}
