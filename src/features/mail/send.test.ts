import { createServer } from 'node:net'
import pino from 'pino'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { useHarness } from '../../../test/harness.ts'
import { createMailer, type Message } from '../../infra/mailer.ts'
import { letter } from './letter.ts'
import { listMail, queueMail } from './outbox.ts'
import { forgetOldMail, sendMail } from './send.ts'

const harness = useHarness()
const minuteMs = 60_000

beforeEach(() => harness.sql`delete from mail`)

const queue = (to: string) =>
  queueMail(
    { sql: harness.sql, secrets: harness.secrets, now: harness.clock.now() },
    letter({
      to,
      subject: 'Hello',
      greeting: 'Dear <you>,',
      paragraphs: ['One.'],
      action: { label: 'Go', link: 'https://api.test/?a=1&b=2' },
    }),
  )

const deps = (mailer: ((message: Message) => Promise<void>) | undefined) => ({
  sql: harness.sql,
  clock: harness.clock,
  log: pino({ level: 'silent' }),
  secrets: harness.secrets,
  mailer,
})

describe('the outbox', () => {
  it('is sent once, by one of several workers', async () => {
    for (let i = 0; i < 30; i++) await queue(`person-${i}@example.com`)
    const sent: Message[] = []
    const mailer = async (message: Message) => void sent.push(message)
    for (let round = 0; round < 2; round++) await Promise.all([1, 2, 3].map(() => sendMail(deps(mailer))))
    expect(new Set(sent.map(({ to }) => to)).size).toBe(30)
    expect(sent).toHaveLength(30)
    expect(sent[0]).toMatchObject({
      subject: 'Hello',
      text: expect.stringContaining('https://api.test/?a=1&b=2'),
      html: expect.stringContaining('Dear &lt;you&gt;'),
    })
  })

  it('is tried again later, and given up in the end', async () => {
    await queue('unlucky@example.com')
    let tries = 0
    const failing = async () => {
      tries++
      throw Object.assign(new Error('550 <unlucky@example.com> unknown'), {
        code: 'EENVELOPE',
        responseCode: 550,
      })
    }
    await sendMail(deps(failing))
    await sendMail(deps(failing))
    expect(tries).toBe(1)
    for (let i = 0; i < 20; i++) {
      harness.clock.advance(500 * minuteMs)
      await sendMail(deps(failing))
    }
    expect(tries).toBe(7)
    const [row] = await harness.sql`select last_error, sent_at from mail`
    expect(row).toEqual({ last_error: 'EENVELOPE 550', sent_at: null })
  })

  it('is kept where there is no mail server, and readable', async () => {
    await queue('kept@example.com')
    await sendMail(deps(undefined))
    expect(await listMail(harness.sql, harness.secrets)).toEqual([
      {
        to: 'kept@example.com',
        subject: 'Hello',
        text: expect.stringContaining('One.'),
        html: expect.stringContaining('<p>One.</p>'),
        created_at: harness.clock.now().toISOString(),
      },
    ])
    harness.clock.advance(31 * 24 * 60 * minuteMs)
    await forgetOldMail(deps(undefined))
    expect(await listMail(harness.sql, harness.secrets)).toEqual([])
  })
})

describe('a mail server', () => {
  const received: string[] = []
  // As much SMTP as it takes to be handed one message.
  const server = createServer((socket) => {
    let data = false
    socket.write('220 ready\r\n')
    socket.on('data', (bytes) => {
      const text = bytes.toString()
      received.push(text)
      if (data && text.endsWith('\r\n.\r\n')) {
        data = false
        return socket.write('250 taken\r\n')
      }
      if (data) return
      if (/^DATA/i.test(text)) {
        data = true
        return socket.write('354 go on\r\n')
      }
      return socket.write(/^QUIT/i.test(text) ? '221 bye\r\n' : '250 ok\r\n')
    })
  })
  afterAll(() => void server.close())

  it('is handed text and HTML', async () => {
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    const { port } = server.address() as { port: number }
    await queue('real@example.com')
    const mailer = await createMailer({ smtpUrl: `smtp://127.0.0.1:${port}`, from: 'Plotbase <a@b.example>' })
    await sendMail(deps(mailer))
    const [row] = await harness.sql`select sent_at from mail`
    expect(row!.sent_at).toBe(harness.clock.now().toISOString())
    const all = received.join('')
    for (const text of [
      'RCPT TO:<real@example.com>',
      'From: Plotbase <a@b.example>',
      'text/plain',
      'text/html',
    ])
      expect(all).toContain(text)
  })
})
