// What judging costs: seconds of CPU of ClickHouse and of this process for each minute, with sites of a few hundred events a day that all have alerts, and
// the statements that ClickHouse has run. First while nothing is remembered, as after a start, then minute by minute into the next hour.
import { createSite } from '../../../src/accounts/sites.ts'
import { checkIfDue } from '../../../src/alerts/checking.ts'
import { createHours } from '../../../src/alerts/hours.ts'
import type { CountedRow } from '../../../src/alerts/statement.ts'
import type { ReadLimits } from '../../../src/stores/clickhouse.ts'
import { type Sql, sql, text, uint } from '../../../src/stores/clickhouse-sql.ts'
import { type Check, pause, quantile } from '../runner.ts'
import { addWebhookTo, type OwnStores, openOwnStores, telling } from './own-stores.ts'
import { hour, minute } from './traffic.ts'

const eventsPerDay = 200
/** 10 % of a core. */
const maxSeconds = 6
/** From a day that is compared with tomorrow to today. */
const filledDays = 29
const steadyMinutes = 20

export async function measureCost(check: Check, count: number) {
  const stores = await openOwnStores(check)
  const { clickhouse } = stores
  const day = '2026-11-17'
  const events = await fill(check, stores, count, day)
  await settled(stores)
  /** Whether the last statement read past days. */
  let readsPast = false
  const reader = {
    async rows<Row>(statement: Sql, signal?: AbortSignal, limits?: ReadLimits) {
      const rows = await clickhouse.rows<Row>(statement, signal, limits)
      readsPast = rows.some((row) => (row as CountedRow).hours.length > 0)
      return rows
    },
  }
  const hours = createHours(reader, (error) => check.fault('past days cannot be read', String(error)))
  let now = Date.parse(`${day}T13:45:00Z`)
  const judge = async () => {
    now += minute
    const before = await countsOf(stores)
    const cpu = process.cpuUsage()
    await checkIfDue(stores, hours, now, telling)
    const node = process.cpuUsage(cpu)
    const after = await countsOf(stores)
    // Counting is a statement itself.
    const selects = after.selects - before.selects - 1
    return { clickhouse: after.seconds - before.seconds, node: (node.user + node.system) / 1e6, selects }
  }
  const first: Awaited<ReturnType<typeof judge>>[] = []
  do first.push(await judge())
  while (readsPast && first.length < 60)
  const steady: typeof first = []
  while (steady.length < steadyMinutes) steady.push(await judge())
  const total = ({ clickhouse: one, node }: (typeof first)[number]) => one + node
  const worst = Math.max(...[...first, ...steady].map(total))
  if (worst > maxSeconds * Math.max(1, count / 10_000)) check.slow('too expensive', `${worst.toFixed(2)} s`)
  const several = [...first, ...steady].filter(({ selects }) => selects !== 1)
  if (several.length > 0) check.fault('not one statement', several.map(({ selects }) => selects).join(', '))
  const rounded = (seconds: number) => Math.round(seconds * 1000) / 1000
  return {
    sites: count,
    alerts: 3 * count,
    events,
    minutesToRemember: first.length,
    secondsAtStart: { worst: rounded(Math.max(...first.map(total))) },
    secondsPerMinute: {
      clickhouse: rounded(
        quantile(
          steady.map((one) => one.clickhouse),
          0.5,
        ),
      ),
      node: rounded(
        quantile(
          steady.map((one) => one.node),
          0.5,
        ),
      ),
      worst: rounded(Math.max(...steady.map(total))),
    },
    statementsPerMinute: 1,
  }
}

interface ServerCounts {
  /** Statements, without their parts. */
  selects: number
  /** Seconds of CPU of all threads that worked on statements. */
  seconds: number
}

async function countsOf({ clickhouse }: OwnStores): Promise<ServerCounts> {
  const rows = await clickhouse.rowsPatiently<{ event: string; value: number }>(sql`
    SELECT event, value FROM system.events WHERE event IN ('SelectQuery', 'UserTimeMicroseconds', 'SystemTimeMicroseconds')`)
  const countOf = (event: string) => rows.find((row) => row.event === event)?.value ?? 0
  return {
    selects: countOf('SelectQuery'),
    seconds: (countOf('UserTimeMicroseconds') + countOf('SystemTimeMicroseconds')) / 1e6,
  }
}

/** Sites with three alerts each, and five weeks of events. */
async function fill(check: Check, stores: OwnStores, count: number, day: string): Promise<number> {
  const { postgres, clickhouse, accountId } = stores
  await addWebhookTo(postgres, await createSite(postgres, { accountId, domain: 'first.example' }))
  await postgres`
    INSERT INTO sites (id, account_id, domain, time_zone, hostnames, shard)
    SELECT 'site_' || translate(lpad(number::text, 16, '0'), '0123456789', 'abcdefghij'), ${accountId}, 'site-' || number || '.example',
      (ARRAY['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata'])[1 + number % 4], ARRAY['site-' || number || '.example'], 1
    FROM generate_series(1, ${count}::int) AS number`
  await postgres`
    INSERT INTO alerts (id, site_id, kind, threshold, min_usual, mail_to, to_webhooks, created_by)
    SELECT 'alert_' || translate(lpad(row_number() OVER ()::text, 16, '0'), '0123456789', 'abcdefghij'), id, kind, threshold, min_usual,
      'owners', true, 'check'
    FROM sites, (VALUES ('rise', 3, 20), ('drop', 30, 50), ('silence', 3, 20)) AS kinds (kind, threshold, min_usual)
    WHERE domain <> 'first.example'`
  const days = Array.from({ length: filledDays }, (_, back) =>
    new Date(Date.parse(day) - back * 24 * hour).toISOString().slice(0, 10),
  )
  for (const one of days) {
    await clickhouse.run(
      sql`
        INSERT INTO events (site_id, day, time, visitor_id, session_id, event_id, name, hostname, pathname, country, device)
        SELECT concat('site_', translate(leftPad(toString(1 + intDiv(number, ${uint(eventsPerDay)})), 16, '0'), '0123456789', 'abcdefghij')),
          toDate(${text(one)}), toDateTime64(concat(${text(one)}, ' 00:00:00'), 3, 'UTC') + rand(1) % 86400,
          cityHash64(number % 150, intDiv(number, ${uint(eventsPerDay)}), ${text(one)}), rand64(2), rand64(3),
          'pageview', 'example.com', concat('/', toString(rand(4) % 50)), 'DE', 'Desktop'
        FROM numbers(${uint(count * eventsPerDay)})`,
      { max_insert_threads: '2' },
    )
  }
  check.say(`${count} sites, ${days.length} days of ${eventsPerDay} events`)
  // As after a merge of the whole month, when nothing but the order of the table leaves other days out.
  await clickhouse.run(sql`OPTIMIZE TABLE events FINAL`)
  return days.length * count * eventsPerDay
}

/** Merges would be measured, too. */
async function settled({ clickhouse }: OwnStores): Promise<void> {
  for (let quiet = 0; quiet < 5; quiet++) {
    const [row] = await clickhouse.rowsPatiently<{ merges: number }>(sql`SELECT count() AS merges FROM system.merges`)
    if ((row?.merges ?? 0) > 0) quiet = 0
    await pause(1_000)
  }
}
