// Changes of who gets reports by email, each together with its entry in the audit log (decision D-222).

import { hourSeconds } from '../durations.ts'
import { reportLink } from '../email-reports/links.ts'
import {
  changeSchedule,
  confirmSubscription,
  confirmWithin,
  createSubscription,
  deleteSubscription,
  findSubscription,
  forgetUnconfirmed,
  type NewSubscription,
  type Subscription,
  subscriptionsOf,
} from '../email-reports/subscriptions.ts'
import { shortLetter } from '../mail/layout.ts'
import { mayQueue } from '../mail/limits.ts'
import { type Outbox, queueMessage } from '../mail/outbox.ts'
import { createNetworkBuckets } from '../process/network-buckets.ts'
import type { Buckets } from '../process/token-buckets.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, type AuditEntry, recordAction } from './audit-log.ts'
import { ChangeRefused } from './change-refused.ts'

/** Who asks for a change. */
interface Requester {
  userId: string
  accountId: string
  actor: Actor
}

type WantedReport = Pick<NewSubscription, 'siteId' | 'filters' | 'email' | 'interval' | 'hour' | 'timeZone'>

type Subscribed =
  | 'subscribed'
  /** The address is no member, and was sent a mail to confirm. */
  | 'asked'
  /** The address has this report already. */
  | 'exists'
  /** Another mail to confirm would be too many. */
  | 'too many'

/**
 * Viewers subscribe only themselves, owners everybody. Asking again an address that has not confirmed sends another mail, and the link of
 * the earlier one stops working.
 */
export const subscribe = (
  postgres: Postgres,
  outbox: Outbox,
  { accountId, userId, actor }: Requester,
  wanted: WantedReport,
): Promise<Subscribed> =>
  inTransaction(postgres, async (transaction) => {
    // Whoever removes a member locks the account, too: nobody subscribes a member who is just being removed.
    const [account] = await transaction<{ name: string }[]>`
      SELECT name FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`
    const members = await transaction<{ userId: string; email: string; role: string }[]>`
      SELECT user_id AS "userId", email, role FROM members JOIN users ON users.id = user_id
      WHERE account_id = ${accountId} AND (user_id = ${userId} OR email = ${wanted.email})`
    const requester = members.find((member) => member.userId === userId)
    const recipient = members.find(({ email }) => email === wanted.email)
    if (!account || !requester) throw new ChangeRefused('not_found')
    if (requester.role !== 'owner' && recipient !== requester) throw new ChangeRefused('owners_only')
    const { siteId, email, interval, filters = [] } = wanted
    const [site] = siteId
      ? await transaction<{ domain: string }[]>`
          SELECT domain FROM sites WHERE id = ${siteId} AND account_id = ${accountId}`
      : []
    if (siteId && !site) throw new ChangeRefused('not_found')

    if (!recipient && !(await mayQueue(transaction, { kinds: ['confirmation'], recipient: email, accountId }))) {
      return 'too many'
    }
    await forgetUnconfirmed(transaction)
    await transaction`
      DELETE FROM report_subscriptions
      WHERE account_id = ${accountId} AND email = ${email} AND every = ${interval} AND site_id IS NOT DISTINCT FROM ${siteId}
        AND filters = ${[...filters]}
        AND confirmed_at IS NULL`
    const subscription = { ...wanted, accountId, userId: recipient?.userId ?? null, createdBy: actor.actor }
    const id = await createSubscription(transaction, subscription)
    if (!id) return 'exists'
    const report = { ...subscription, id, domain: site?.domain ?? null }
    await record(transaction, actor, 'report.subscribed', report)
    if (recipient) return 'subscribed'
    await queueMessage(transaction, outbox, {
      kind: 'confirmation',
      recipient: email,
      accountId,
      letter: confirmationLetter(report, account.name, reportLink(outbox, 'confirm', id)),
      expiresIn: confirmWithin,
    })
    return 'asked'
  })

/** The reports of the account that a person may see: owners all, viewers those that they get themselves. */
export async function visibleReports(
  postgres: Postgres,
  accountId: string,
  { isOwner, id, email }: { isOwner: boolean; id: string; email: string },
): Promise<Subscription[]> {
  const reports = await subscriptionsOf(postgres, accountId)
  return isOwner ? reports : reports.filter((report) => report.userId === id || report.email === email)
}

/** The person sees the report: `visibleReports`. */
export const changeReport = (
  postgres: Postgres,
  actor: Actor,
  report: Subscription,
  { hour, timeZone }: Pick<NewSubscription, 'hour' | 'timeZone'>,
): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    const { count } = await changeSchedule(transaction, report.id, { hour, timeZone })
    if (count === 0) throw new ChangeRefused('not_found')
    const details = `${scheduleText(report)} → ${scheduleText({ hour, timeZone })}`
    await record(transaction, actor, 'report.changed', report, details)
  })

/** Also deletes its messages that wait. The person sees the report. */
export const endReport = (postgres: Postgres, actor: Actor, report: Subscription): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    if (!(await deleteSubscription(transaction, report.id))) throw new ChangeRefused('not_found')
    await record(transaction, actor, 'report.ended', report)
  })

/** Whoever has the link of a mail. The log says nothing about where they are: they may be no user of this installation. */
const somebody: Actor = { actor: 'somebody' }

/** Returns false if it was confirmed before, or nobody remembers it. */
export const confirmReport = (postgres: Postgres, id: string): Promise<boolean> =>
  inTransaction(postgres, async (transaction) => {
    const report = await findSubscription(transaction, id)
    if (!report || !(await confirmSubscription(transaction, id))) return false
    await record(transaction, somebody, 'report.confirmed', report, 'with the link of the mail')
    return true
  })

/** Does nothing if the report has ended already. */
export const unsubscribe = (postgres: Postgres, id: string): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    const report = await findSubscription(transaction, id)
    if (!report || !(await deleteSubscription(transaction, id))) return
    await record(transaction, somebody, 'report.ended', report, 'with the link of a mail')
  })

/** Call it in the transaction that removes a member, before the membership is gone: also ends what was made for the address alone. */
export async function endReportsOf(
  transaction: Postgres,
  actor: Actor,
  { accountId, userId, email }: { accountId: string; userId: string; email: string },
): Promise<void> {
  const reports = await subscriptionsOf(transaction, accountId)
  for (const report of reports) {
    if (report.userId !== userId && report.email !== email) continue
    if (await deleteSubscription(transaction, report.id)) await record(transaction, actor, 'report.ended', report)
  }
}

/** `every week about example.com` */
const reportText = ({ interval, domain, filters = [] }: Pick<Reported, 'interval' | 'domain' | 'filters'>): string =>
  [`every ${interval} about ${domain ?? 'all sites'}`, ...filters.map((filter) => `only ${filter}`)].join(', ')

/** `at 8:00, Europe/Berlin` */
const scheduleText = ({ hour, timeZone }: Pick<Subscription, 'hour' | 'timeZone'>): string =>
  `at ${hour}:00, ${timeZone}`

type Reported = Pick<Subscription, 'id' | 'accountId' | 'email' | 'interval' | 'domain' | 'hour' | 'timeZone'> &
  Pick<NewSubscription, 'filters'>

const record = (
  transaction: Postgres,
  actor: Actor,
  action: AuditEntry['action'],
  report: Reported,
  more = scheduleText(report),
) =>
  recordAction(transaction, {
    ...actor,
    accountId: report.accountId,
    action,
    subject: report.email,
    details: `${reportText(report)}, ${more} (${report.id})`,
  })

const confirmationLetter = (report: Reported & { createdBy: string }, account: string, href: string) => {
  const about = report.domain ?? `all sites of ${account}`
  const name = `${report.interval}ly report about ${about}`
  return shortLetter({
    subject: `Please confirm: a ${name}`,
    title: 'Do you want this report?',
    paragraphs: [
      `${report.createdBy} wants Footfall to send a ${name} to ${report.email}, ${scheduleText(report)}.`,
      'It says how many visitors there were, what they read and where they came from. Nothing is sent before you confirm. You can stop it with one click at any time.',
      'The link works for seven days.',
    ],
    button: { name: 'Look at it and confirm', href },
    footer:
      'You get this mail because somebody entered your address. If you do not want the report, do nothing: the request is forgotten after seven days.',
  })
}

/** Mails of one network that ask an address to confirm, in an hour and in this process. mail/limits.ts limits them for all processes. */
const perNetwork = 30

export const createConfirmationLimit = (): Buckets<string> =>
  createNetworkBuckets({ perSecond: perNetwork / hourSeconds, burstSeconds: hourSeconds })
