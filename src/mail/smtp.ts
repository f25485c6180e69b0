// One connection to the mail server, by nodemailer's SMTPConnection. Its pool is not used: that sends a message again by itself when a
// connection breaks, and then nobody knows how many copies there are.
import { Readable } from 'node:stream'
import MailComposer from 'nodemailer/lib/mail-composer'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { minuteMs } from '../durations.ts'
import type { Letter } from './letter.ts'

export interface MailServer {
  host: string
  port: number
  /** TLS from the start. Otherwise STARTTLS. */
  isSecure: boolean
  /** Mail is not sent if the server offers no TLS. */
  needsTls: boolean
  user: string | undefined
  password: string
}

export interface Mailbox {
  name: string
  address: string
}

export interface MailSettings {
  server: MailServer
  from: Mailbox
  /** The longest wait for each answer before the message ends. */
  answerMs?: number
  /** RFC 5321 (4.5.3.2.6) asks for ten minutes after the end of a message: some servers look for viruses and spam before they answer. */
  finalAnswerMs?: number
}

interface OutgoingMail {
  /** Part of the Message-ID: a second copy has the same one, so that servers and people recognise it. */
  id: string
  to: string
  letter: Letter
  headers?: Readonly<Record<string, string>>
}

export interface SmtpConnection {
  /**
   * `beforeEnd` runs when all but the end of the message is sent. If it returns false or throws, the message is not sent, and the
   * connection is closed.
   */
  send(mail: OutgoingMail, beforeEnd: () => Promise<boolean>): Promise<Delivery>
  isOpen(): boolean
  close(): void
}

/** `unknown`: the server has the whole message and did not answer. */
export type Delivery =
  | { result: 'accepted' }
  | { result: 'refused' | 'postponed' | 'unknown'; problem: string }
  | { result: 'withdrawn' }

interface SmtpError extends Error {
  code?: string
  responseCode?: number
  response?: string
}

/** Connects and signs in. Throws an Error whose message says what the server or the network answered. */
export async function connectToMailServer({
  server,
  from,
  answerMs = 30_000,
  finalAnswerMs = 10 * minuteMs,
}: MailSettings): Promise<SmtpConnection> {
  const connection = new SMTPConnection({
    host: server.host,
    port: server.port,
    secure: server.isSecure,
    requireTLS: server.needsTls && !server.isSecure,
    // Without a demand for TLS, a server that offers it with a certificate of its own is used as it is.
    tls: { rejectUnauthorized: server.needsTls },
    name: from.address.split('@')[1],
    connectionTimeout: answerMs,
    greetingTimeout: answerMs,
    socketTimeout: finalAnswerMs,
  })
  let isOpen = true
  let fail: (error: Error) => void = () => {}
  connection.on('error', (error: Error) => {
    isOpen = false
    fail(error)
  })
  connection.on('end', () => {
    isOpen = false
    fail(new Error('the mail server closed the connection'))
  })

  /** Rejects also when the connection breaks or the server is silent for too long. */
  function answered<Value>(
    milliseconds: () => number,
    ask: (done: (error?: Error | null, value?: Value) => void) => void,
  ) {
    return new Promise<Value | undefined>((resolve, reject) => {
      const began = performance.now()
      const clock = setInterval(() => {
        if (performance.now() - began > milliseconds()) end(new Error('the mail server did not answer in time'))
      }, 250)
      const end = (error?: Error | null, value?: Value) => {
        clearInterval(clock)
        if (error) reject(error)
        else resolve(value)
      }
      fail = end
      ask(end)
    }).catch((error: Error) => {
      connection.close()
      isOpen = false
      throw error
    })
  }

  await answered(
    () => answerMs,
    (done) => connection.connect(done),
  )
  const { user, password } = server
  if (user !== undefined) {
    await answered(
      () => answerMs,
      (done) => connection.login({ credentials: { user, pass: password } }, done),
    )
  }

  return {
    async send(mail, beforeEnd) {
      let isHandedOver = false
      let isWithdrawn = false
      const content = await new MailComposer(compositionOf(mail, from)).compile().build()
      async function* contentAndEnd(): AsyncGenerator<Buffer> {
        yield content
        if (!(await beforeEnd())) {
          isWithdrawn = true
          throw new Error('The message is not ours any more')
        }
        isHandedOver = true
      }
      const envelope = { from: from.address, to: [mail.to], size: content.length }
      let refusal: SmtpError | undefined
      try {
        await answered(
          () => (isHandedOver ? finalAnswerMs : answerMs),
          (done) =>
            connection.send(envelope, Readable.from(contentAndEnd(), { objectMode: false }), (error, info) => {
              refusal = error as SmtpError | undefined
              // A refusal leaves the connection usable.
              if (refusal?.responseCode) done()
              else done(error, info)
            }),
        )
      } catch (error) {
        if (isWithdrawn) return { result: 'withdrawn' }
        return { result: isHandedOver ? 'unknown' : 'postponed', problem: problemOf(error as SmtpError) }
      }
      if (!refusal) return { result: 'accepted' }
      if (isOpen)
        await answered(
          () => answerMs,
          (done) => connection.reset(done),
        ).catch(() => {})
      const isForGood = (refusal.responseCode ?? 0) >= 500
      return { result: isForGood ? 'refused' : 'postponed', problem: answerOf(refusal) }
    },
    isOpen: () => isOpen,
    close() {
      isOpen = false
      connection.quit()
      setTimeout(() => connection.close(), 1_000).unref()
    },
  }
}

function compositionOf({ id, to, letter, headers }: OutgoingMail, from: Mailbox) {
  return {
    from,
    to: { name: '', address: to },
    messageId: `<${id}@${from.address.split('@')[1]}>`,
    // Answers of machines ("I am away") are of no use to anybody.
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    ...letter,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** What the mail server answered or the network did, on one line. */
export const problemOf = ({ message }: Error): string => onOneLine(message)

/** What the mail server answered to a message, such as `550 5.1.1 no such user`, without the words of the library before it. */
const answerOf = ({ response, message }: SmtpError): string => onOneLine(response ?? message)

const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 300)
