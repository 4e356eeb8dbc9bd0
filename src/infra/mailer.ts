import { createTransport } from 'nodemailer'

export interface Message {
  to: string
  subject: string
  text: string
  html: string
}

/** Hands one message over to the mail server; throws when it was not taken. */
export type Mailer = (message: Message) => Promise<void>

/** Undefined where no mail server is configured. */
export function createMailer(settings: { smtpUrl: string | undefined; from: string }): Mailer | undefined {
  if (!settings.smtpUrl) return undefined
  const transport = createTransport(settings.smtpUrl, { from: settings.from })
  return async (message) => {
    await transport.sendMail(message)
  }
}
