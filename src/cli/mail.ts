import { loadConfig } from '../config.ts'
import { type KeptMail, listMail } from '../features/mail/outbox.ts'
import { createSecrets, secretKeys } from '../infra/secrets.ts'
import { type Command, print } from './command.ts'
import { withDatabase } from './operator.ts'

export const mail: Command = {
  summary: 'Show the mail of the last 30 days, sent or not: how to read it without a mail server.',
  usage: '',
  run: async ({ json }) =>
    withDatabase(async (sql) => {
      const secrets = createSecrets(await secretKeys(loadConfig(process.env)))
      const messages = await listMail(sql, secrets)
      if (json) return print(messages, true)
      process.stdout.write(messages.length === 0 ? 'None.\n' : messages.map(shown).join('\n'))
    }),
}

const shown = ({ to, subject, text, created_at }: KeptMail) =>
  `${created_at}\nTo: ${to}\nSubject: ${subject}\n\n${text}\n${'-'.repeat(72)}\n`
