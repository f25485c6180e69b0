// Small random sites of the independent model behind a console and its API, with one clock for both.
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { createKey } from '../../src/accounts/keys.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { invalidateDays } from '../../src/rollups/invalidation.ts'
import type { TrafficEvent } from '../../src/traffic/event.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { makeWorld } from '../checks/oracle/worlds.ts'
import { eventOf, type Hit } from '../support/events.ts'
import { keySecrets } from '../support/stores.ts'
import { openConsole } from './console.ts'

export type DashboardWorld = Awaited<ReturnType<typeof openDashboardWorld>>

/** With the events of the world, or with others that `eventsAt` makes for its current time. */
export async function openDashboardWorld(
  t: TestContext,
  number: number,
  eventsAt?: (now: number, zone: string) => Hit[],
) {
  const world = makeWorld('dashboard', number)
  // A page counts up to the last full five seconds.
  const now = world.now - (world.now % 5_000)
  const console = await openConsole(t, { now: new Date(now).toISOString() })
  const { postgres, clickhouse } = console.stores
  const domain = `${randomUUID()}.example`
  const siteId = await createSite(postgres, {
    accountId: console.accountId,
    domain,
    timeZone: world.zone,
    excludedCountries: world.excludedCountries,
  })
  const events: TrafficEvent[] =
    eventsAt?.(now, world.zone).map((hit) => eventOf(hit, siteId, world.zone)) ??
    world.events.map((event) => ({ ...event, siteId }))
  if (events.length > 0) await recordBatch(clickhouse, { id: randomUUID(), events })
  await invalidateDays(postgres, events)
  const key = await createKey(postgres, keySecrets, { accountId: console.accountId, siteId, name: 'Test' })
  const visitor = await console.signedIn('viewer')
  return {
    ...world,
    now,
    events,
    console,
    siteId,
    domain,
    page: (fields: Record<string, string>) => visitor.get(`/sites/${domain}?${new URLSearchParams(fields)}`),
    csv: (report: string, fields: Record<string, string>) =>
      visitor.get(`/sites/${domain}/csv/${report}?${new URLSearchParams(fields)}`),
    async api(report: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
      const answer = await console.api.fetch(`/api/v1/stats/${report}?${new URLSearchParams(fields)}`, {
        headers: { Authorization: `Bearer ${key.text}`, ...headers },
      })
      if (answer.status !== 200) throw new Error(`${report} answered ${answer.status} ${answer.text}`)
      return answer
    },
  }
}
