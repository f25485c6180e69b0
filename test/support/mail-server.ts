// A real SMTP server that a test tells how to behave.
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { MailServer } from '../../src/mail/smtp.ts'

interface ReceivedMail {
  to: string
  messageId: string
  subject: string
  raw: string
}

/** What the server does with a message. */
type Reaction =
  | 'accept'
  | { at: 'recipient' | 'end'; code: number; answer: string }
  /** Never answers the recipient's command, or the end of the message. */
  | { hangsAt: 'recipient' | 'end' }

export interface TestMailServer {
  server: MailServer
  port: number
  /** Messages that the server has answered with 250. */
  received: ReceivedMail[]
  /** Messages whose end the server has seen, whatever it answered. */
  ended: ReceivedMail[]
  react(reaction: (to: string) => Reaction): void
  close(): Promise<void>
}

export async function startMailServer(options: SMTPServerOptions = {}, port = 0): Promise<TestMailServer> {
  const received: ReceivedMail[] = []
  const ended: ReceivedMail[] = []
  let reactionTo: (to: string) => Reaction = () => 'accept'
  const refusal = (code: number, answer: string) => Object.assign(new Error(answer), { responseCode: code })
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    logger: false,
    onRcptTo({ address }, _session, done) {
      const reaction = reactionTo(address)
      if (reaction === 'accept') done()
      else if ('hangsAt' in reaction) reaction.hangsAt === 'recipient' || done()
      else done(reaction.at === 'recipient' ? refusal(reaction.code, reaction.answer) : null)
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const to = session.envelope.rcptTo[0]?.address ?? ''
        const mail = mailOf(to, Buffer.concat(chunks).toString())
        const reaction = reactionTo(to)
        ended.push(mail)
        if (reaction !== 'accept' && 'hangsAt' in reaction) return
        if (reaction !== 'accept') return done(refusal(reaction.code, reaction.answer))
        received.push(mail)
        done(null)
      })
    },
    ...options,
  })
  smtp.on('error', () => {}) // a client that goes away
  await new Promise<void>((resolve) => smtp.listen(port, '127.0.0.1', resolve))
  const address = smtp.server.address() as AddressInfo
  return {
    server: {
      host: '127.0.0.1',
      port: address.port,
      isSecure: options.secure === true,
      needsTls: false,
      user: undefined,
      password: '',
    },
    port: address.port,
    received,
    ended,
    react(reaction) {
      reactionTo = reaction
    },
    close: () => new Promise((resolve) => smtp.close(() => resolve())),
  }
}

const mailOf = (to: string, raw: string): ReceivedMail => ({
  to,
  messageId: /^Message-ID: <([^>]*)>/im.exec(raw)?.[1] ?? '',
  subject: /^Subject: (.*)/im.exec(raw)?.[1] ?? '',
  raw,
})
