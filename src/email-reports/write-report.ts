// Writes a report when it is sent, with the numbers of that moment.
import { findSite, listSitesOf } from '../accounts/sites.ts'
import type { ClaimedMessage, Outbox } from '../mail/outbox.ts'
import type { WrittenReport } from '../mail/sender.ts'
import { readStoredFilters } from '../stats/questions/filters.ts'
import type { StatsService } from '../stats/service.ts'
import type { Postgres } from '../stores/postgres.ts'
import { composeReport } from './compose.ts'
import { reportLink } from './links.ts'
import type { ReportOrder } from './order.ts'
import { findSubscription, type Subscription } from './subscriptions.ts'

export interface MailServices {
  postgres: Postgres
  stats: StatsService
  outbox: Outbox
}

/** Undefined: the subscription or its site is gone, or a goal of its filters, without which it would say more. */
export async function writeReport(
  { postgres, stats, outbox }: MailServices,
  { subscriptionId, period, dueAt }: Pick<ClaimedMessage, 'subscriptionId' | 'period' | 'dueAt'>,
  now: number,
  signal: AbortSignal,
): Promise<WrittenReport | undefined> {
  const subscription = subscriptionId ? await findSubscription(postgres, subscriptionId) : undefined
  const about = subscription && (await subjectOf(postgres, subscription))
  if (!about || !subscription || !period) return undefined
  const unsubscribeUrl = reportLink(outbox, 'unsubscribe', subscription.id)
  const letter = await composeReport(
    stats,
    {
      interval: subscription.interval,
      firstDay: period,
      about,
      hour: subscription.hour,
      zone: subscription.timeZone,
      publicUrl: outbox.publicUrl,
      // An address that is no member cannot sign in; its page has the schedule and the way out.
      changeUrl: subscription.userId
        ? `${outbox.publicUrl}/account/reports?account=${subscription.accountId}`
        : unsubscribeUrl,
      unsubscribeUrl,
      dueAt: dueAt.getTime(),
      now,
    },
    signal,
  )
  return {
    letter,
    headers: {
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  }
}

async function subjectOf(
  postgres: Postgres,
  { siteId, accountId, filters }: Subscription,
): Promise<ReportOrder['about'] | undefined> {
  if (siteId !== null) {
    const site = await findSite(postgres, siteId)
    const read = site && readStoredFilters(filters, site)
    return read && { site, filters: read }
  }
  const [account] = await postgres<{ name: string }[]>`SELECT name FROM accounts WHERE id = ${accountId}`
  return account && { account: account.name, sites: await listSitesOf(postgres, [accountId]) }
}
