// Small random sites of the independent model behind a console and its API, with one clock for both.
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { goalOf } from '../../src/accounts/goal-rules.ts'
import { createGoal } from '../../src/accounts/goals.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { invalidateDays } from '../../src/rollups/invalidation.ts'
import type { TrafficEvent } from '../../src/traffic/event.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { makeWorld } from '../checks/oracle/worlds.ts'
import { eventOf, type Hit } from '../support/events.ts'
import { keySecrets } from '../support/stores.ts'
import { openConsole } from './console.ts'

export type Fields = Record<string, string> | [string, string][]

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
  const event = events.find(({ name }) => name !== 'pageview' && name.trim() !== '')?.name ?? 'Nothing'
  await createGoal(postgres, siteId, goalOf('Reached', { event }))
  await createGoal(postgres, siteId, goalOf('Reads', { pattern: '/p**' }))
  if (events.length > 0) await recordBatch(clickhouse, { id: randomUUID(), events })
  await invalidateDays(postgres, events)
  const key = await createKey(postgres, keySecrets, { accountId: console.accountId, siteId, name: 'Test' })
  const visitor = await console.signedIn('viewer')
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await console.api.fetch(path, { headers: { Authorization: `Bearer ${key.text}`, ...headers } })
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${answer.text}`)
    return answer
  }
  return {
    ...world,
    now,
    events,
    console,
    siteId,
    domain,
    page: (fields: Fields) => visitor.get(`/sites/${domain}?${new URLSearchParams(fields)}`),
    csv: (report: string, fields: Fields) =>
      visitor.get(`/sites/${domain}/csv/${report}?${new URLSearchParams(fields)}`),
    api: (report: string, fields: Fields) => get(`/api/v1/stats/${report}?${new URLSearchParams(fields)}`),
    /** A question to version 2. */
    ask: (kind: string, fields: Fields, headers: Record<string, string> = {}) =>
      get(`/api/v2/stats/${kind}?${new URLSearchParams(fields)}`, headers),
  }
}
