// Reports by email as tests of the console need them: what waits in the outbox, and the links in it.
import type { Interval } from '../../src/email-reports/due.ts'
import { createSubscription } from '../../src/email-reports/subscriptions.ts'
import type { Letter } from '../../src/mail/letter.ts'
import type { ClaimedMessage } from '../../src/mail/outbox.ts'
import { letterOf } from '../../src/mail/outbox.ts'
import { keySecrets } from '../support/stores.ts'
import type { TestConsole } from './console.ts'

/** The letters to an address that are not sent yet, the oldest first. */
export async function lettersTo({ stores }: Pick<TestConsole, 'stores'>, recipient: string): Promise<Letter[]> {
  const rows = await stores.postgres<ClaimedMessage[]>`
    SELECT id, content FROM outbox WHERE recipient = ${recipient} AND kind = 'confirmation' ORDER BY queued_at`
  return rows.map((row) => letterOf({ secrets: keySecrets }, row) as Letter)
}

/** The path of the only link in the text of a letter. */
export function linkIn({ url }: TestConsole, letter: Letter | undefined): string {
  const [link = ''] = letter?.text.match(/http\S+/) ?? []
  return link.startsWith(`${url}/`) ? link.slice(url.length) : `not ours: ${link}`
}

/** The reports of an account: whom, how often, about which site, whether confirmed. */
export async function reportsIn({ stores }: Pick<TestConsole, 'stores'>, accountId: string): Promise<string[]> {
  const rows = await stores.postgres<{ text: string }[]>`
    SELECT concat_ws(' ', email, every, domain, hour, report_subscriptions.time_zone,
                     CASE WHEN confirmed_at IS NULL THEN 'unconfirmed' END) AS text
    FROM report_subscriptions LEFT JOIN sites ON sites.id = site_id
    WHERE report_subscriptions.account_id = ${accountId} ORDER BY 1`
  return rows.map(({ text }) => text)
}

interface Given {
  email: string
  userId?: string | null
  accountId?: string
  interval?: Interval
}

/** A report that exists, with a message that waits. Returns its id. */
export async function giveReport(console: TestConsole, given: Given): Promise<string> {
  const { postgres } = console.stores
  const { email, userId = null, accountId = console.accountId, interval = 'week' } = given
  const id = (await createSubscription(postgres, {
    ...{ accountId, siteId: null, email, userId, interval, hour: 8, timeZone: 'UTC', createdBy: 'a test' },
  })) as string
  await postgres`UPDATE report_subscriptions SET confirmed_at = now() WHERE id = ${id}`
  await postgres`
    INSERT INTO outbox (id, kind, recipient, account_id, subscription_id, period)
    VALUES (${id.replace('rep_', 'mail_')}, 'report', ${email}, ${accountId}, ${id}, '2026-11-09')`
  return id
}

/** How many reports to an address wait in the outbox. */
export async function waitingReports({ stores }: TestConsole, recipient: string): Promise<number> {
  const [row] = await stores.postgres<[{ count: number }]>`
    SELECT count(*)::int FROM outbox WHERE recipient = ${recipient} AND kind = 'report'`
  return row.count
}
