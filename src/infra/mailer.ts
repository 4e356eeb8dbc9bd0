export interface Message {
  to: string
  subject: string
  text: string
  html: string
}

/** Hands one message over to the mail server; throws when it was not taken. */
export type Mailer = (message: Message) => Promise<void>

/** Undefined where no mail server is configured. */
export async function createMailer(settings: {
  smtpUrl: string | undefined
  from: string
}): Promise<Mailer | undefined> {
  if (!settings.smtpUrl) return undefined
  // Loaded only here: it takes memory that most processes have no use for.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(settings.smtpUrl, { from: settings.from })
  return async (message) => {
    await transport.sendMail(message)
  }
}
