import { letter } from '../mail/letter.ts'
import type { Mail } from '../mail/outbox.ts'

export const passwordResetMail = (person: { email: string; name: string }, link: string): Mail =>
  letter({
    to: person.email,
    subject: 'Set a new password',
    greeting: `Hello ${person.name},`,
    paragraphs: ['Somebody, hopefully you, asked for a new password for your Plotbase account.'],
    action: { label: 'Set a new password', link },
    closing:
      'The link works once, for one hour. If it was not you, nothing has changed and you can ignore this.',
  })
