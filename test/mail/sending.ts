// An outbox, a real mail server and processes that send, for tests of what becomes of messages.
import assert from 'node:assert/strict'
import { createAccount } from '../../src/accounts/accounts.ts'
import { newId } from '../../src/accounts/ids.ts'
import { createSubscription } from '../../src/email-reports/subscriptions.ts'
import { queueMessage } from '../../src/mail/outbox.ts'
import { type MailLoop, type MailOptions, startMail } from '../../src/mail/sender.ts'
import { createLog } from '../../src/process/log.ts'
import { eventually } from '../support/eventually.ts'
import { startMailServer, type TestMailServer } from '../support/mail-server.ts'
import { connect, createStores, disconnect, keySecrets, type Stores } from '../support/stores.ts'

const log = createLog('silent')
const outbox = { secrets: keySecrets, publicUrl: 'https://stats.example.com' }
export const letter = {
  subject: 'Hello',
  text: 'A secret link: https://stats.example.com/reset/abc',
  html: '<p>Hello</p>',
}

interface Row {
  state: string
  problem: string
  failures: number
  content: Buffer | null
  /** Seconds from the last change to the next attempt. */
  waits: number
}

export interface Sending {
  stores: Stores
  mailServer: TestMailServer
  /** Starts a process that sends. */
  start(settings?: Partial<MailOptions['settings']>, writeReport?: MailOptions['writeReport']): MailLoop
  /** A password reset, which may be sent twice. Returns its id. */
  queue(recipient: string): Promise<string>
  /** A report, which must not be sent twice. */
  queueReport(recipient: string): Promise<string>
  rowOf(id: string): Promise<Row>
  inState(id: string, state: string): Promise<Row>
  /** Ends the pause after a failure. */
  dueNow(id: string): Promise<unknown>
  /** Between two tests. */
  clear(): Promise<void>
  close(): Promise<void>
}

export async function openSending(): Promise<Sending> {
  const created = await createStores()
  const stores = connect(created.addresses)
  const mailServer = await startMailServer()
  const { postgres } = stores

  async function rowOf(id: string): Promise<Row> {
    const [row] = await postgres<Row[]>`
      SELECT state, problem, failures, content, extract(epoch FROM next_attempt_at - changed_at)::int AS waits FROM outbox WHERE id = ${id}`
    assert.ok(row)
    return row
  }

  return {
    stores,
    mailServer,
    start: (settings = {}, writeReport = async () => ({ letter, headers: {} })) =>
      startMail(stores, {
        settings: {
          server: mailServer.server,
          from: { name: 'Footfall', address: 'stats@example.com' },
          answerMs: 1_000,
          finalAnswerMs: 1_500,
          ...settings,
        },
        outbox,
        log,
        due: [],
        writeReport,
      }),
    queue: (recipient) =>
      queueMessage(postgres, outbox, { kind: 'reset', recipient, accountId: null, letter, expiresIn: '24 hours' }),
    async queueReport(recipient) {
      const accountId = await createAccount(postgres, { name: 'Main', plan: 'Growth' })
      const subscription = {
        accountId,
        siteId: null,
        email: recipient,
        userId: null,
        interval: 'week',
        hour: 8,
      } as const
      const id = await createSubscription(postgres, { ...subscription, timeZone: 'UTC', createdBy: 'test' })
      const [row] = await postgres<{ id: string }[]>`
        INSERT INTO outbox (id, kind, recipient, account_id, subscription_id, period)
        VALUES (${newId('mail')}, 'report', ${recipient}, ${accountId}, ${id as string}, '2026-11-09') RETURNING id`
      return row?.id as string
    },
    rowOf,
    inState: (id, state) =>
      eventually(async () => {
        const row = await rowOf(id)
        assert.equal(row.state, state, row.problem)
        return row
      }),
    dueNow: (id) => postgres`UPDATE outbox SET next_attempt_at = now() WHERE id = ${id}`,
    async clear() {
      await postgres`DELETE FROM outbox`
      mailServer.received.length = 0
      mailServer.ended.length = 0
      mailServer.react(() => 'accept')
    },
    async close() {
      await mailServer.close()
      await disconnect(stores)
      await created.remove()
    },
  }
}
