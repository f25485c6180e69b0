// What it costs to roll up a day of many small sites: together, and each alone for a sample of them. Both sides have the same traffic,
// and each waits until ClickHouse has merged what it wrote.
//   npm run bench:rollup [-- --sites 100000 --sample 300]     in about twelve minutes
//   npm run bench:rollup -- --sites 2000 --sample 40          the short form
import { readdirSync, readFileSync } from 'node:fs'
import { createAccount } from '../../src/accounts/accounts.ts'
import { newId } from '../../src/accounts/ids.ts'
import { rollUpRound } from '../../src/rollups/loop.ts'
import { verifySite } from '../../src/rollups/verify.ts'
import { sql, text, texts, uint } from '../../src/stores/clickhouse-sql.ts'
import { readOptions } from '../../test/support/options.ts'
import { connect, createStores, disconnect } from '../../test/support/stores.ts'
import { cpuSeconds, machineTime, round, since } from '../api/measure.ts'
import { untilMerged } from './merges.ts'

const {
  sites: siteCount,
  sample: sampleCount,
  events: eventsEach,
} = readOptions('rollup', {
  sites: 100_000,
  /** Sites that are rolled up alone. */
  sample: 300,
  /** Of each site, on its one day. */
  events: 30,
})
const maxOfAlone = 0.1
const verified = 50
const day = '2026-03-14'
const now = Date.parse('2026-03-15T12:00:00Z')

/** Two cores need 12 for the full form. */
const maxMinutes = 40
setTimeout(() => {
  console.log(JSON.stringify({ bench: 'rollup', ok: false, short: [`not finished in ${maxMinutes} minutes`] }))
  process.exit(1)
}, maxMinutes * 60_000).unref()

const say = (what: string): void => void process.stderr.write(`${what}\n`)
const created = await createStores()
const stores = connect(created.addresses)
const { postgres, clickhouse } = stores
const clickhousePid = created.clickhousePid as number
try {
  const machine = machineTime()
  say(`Creating ${siteCount} sites with ${eventsEach} events each`)
  const ids = await createSites()
  await createEvents(ids)
  await untilMerged(clickhouse)
  const sample = ids.slice(0, sampleCount)

  const alone = await costOf(async () => {
    for (const siteId of sample) await rollUpRound(stores, { now, siteId })
  })
  say(`Alone: ${JSON.stringify(alone)} for ${sample.length} sites`)
  const together = await costOf(() => rollUpRound(stores, { now, minYearEvents: 1 }))
  const togetherCount = ids.length - sample.length
  say(`Together: ${JSON.stringify(together)} for ${togetherCount} sites`)

  const perSite = {
    alone: round((1_000 * alone.cpu) / sample.length, 2),
    together: round((1_000 * together.cpu) / togetherCount, 2),
  }
  const wrong = (await wrongTotals()) + (await wrongRows(ids.slice(sampleCount)))
  const ratio = round(perSite.together / perSite.alone, 3)
  const { steal, busy } = since(machine)
  const ok = ratio <= maxOfAlone && wrong === 0
  console.log(
    JSON.stringify({
      bench: 'rollup',
      sites: ids.length,
      events: ids.length * eventsEach,
      sample: sample.length,
      cpuMsPerSite: perSite,
      seconds: { alone: alone.seconds, together: together.seconds },
      ratio,
      maxOfAlone,
      verified,
      wrong,
      steal,
      busy,
      ok,
    }),
  )
  process.exitCode = ok ? 0 : 1
} finally {
  await disconnect(stores)
  await created.remove()
}
process.exit()

async function createSites(): Promise<string[]> {
  const accountId = await createAccount(postgres, { name: 'Many sites', plan: 'Agency' })
  const ids = Array.from({ length: siteCount }, () => newId('site'))
  for (let first = 0; first < ids.length; first += 10_000) {
    const rows = ids.slice(first, first + 10_000).map((id) => ({ id, account_id: accountId, domain: `${id}.example` }))
    await postgres`
      INSERT INTO sites (id, account_id, domain)
      SELECT id, account_id, domain FROM jsonb_populate_recordset(NULL::sites, ${JSON.stringify(rows)}::text::jsonb)`
  }
  return ids
}

/** Different visitors, pages, referrers, countries and devices for each site, as ClickHouse's hash of the site and a number says. */
async function createEvents(ids: readonly string[]): Promise<void> {
  for (let first = 0; first < ids.length; first += 2_000) {
    await clickhouse.run(sql`
      INSERT INTO events
      (
        site_id, day, time, visitor_id, session_id, event_id, name, hostname, pathname, referrer, channel, utm_source, country, device,
        utm_medium, utm_campaign, utm_content, utm_term, browser, os, props
      )
      SELECT
        site_id, toDate(${text(day)}) AS day, toDateTime64(day, 3, 'UTC') + INTERVAL number * 60 + 36000 SECOND AS time,
        cityHash64(site_id, intDiv(number, 3)) AS visitor_id, cityHash64('session', visitor_id) AS session_id,
        cityHash64(site_id, number) AS event_id, if(draw % 9 = 0, 'signup', 'pageview') AS name, concat(site_id, '.example') AS hostname,
        concat('/', toString(draw % 12)) AS pathname,
        if(visitor_id % 3 = 0, concat('site', toString(visitor_id % 7), '.example'), '') AS referrer,
        if(referrer = '', 'Direct', 'Referral') AS channel, if(visitor_id % 10 = 0, 'news', '') AS utm_source,
        ['DE', 'US', 'FR', 'JP', 'GB'][1 + visitor_id % 5] AS country, ['Desktop', 'Mobile', 'Tablet'][1 + visitor_id % 3] AS device,
        if((visitor_id % 10 < 3 AS tagged), 'email', ''), if(tagged, concat('campaign-', toString(visitor_id % 30)), ''),
        if(tagged, 'hero', ''), if(tagged, concat('words ', toString(visitor_id % 100)), ''),
        ['Chrome', 'Safari', 'Firefox'][1 + visitor_id % 3], ['Windows', 'iOS', 'Android'][1 + visitor_id % 3],
        if(draw % 10 = 0, map('plan', 'pro', 'author', toString(draw % 50), 'item', toString(draw % 500)), map())
      FROM (
        SELECT arrayJoin(${texts(ids.slice(first, first + 2_000))}) AS site_id, number, cityHash64('draw', site_id, number) AS draw
        FROM numbers(${uint(eventsEach)})
      )`)
  }
}

interface Cost {
  seconds: number
  /** Seconds of ClickHouse, PostgreSQL and this process. */
  cpu: number
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const [began, before] = [performance.now(), cpu()]
  await work()
  const seconds = round((performance.now() - began) / 1_000, 1)
  await untilMerged(clickhouse)
  return { seconds, cpu: round(cpu() - before, 2) }
}

/** Connections stay open, so no process of PostgreSQL that did some of the work has ended. */
function cpu(): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandOf(name) === 'postgres')
  return [clickhousePid, process.pid, ...pids.map(Number)].reduce((sum, pid) => sum + cpuSeconds(pid), 0)
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return '' // it has just ended
  }
}

/** Sites whose total differs from their events, of all. */
async function wrongTotals(): Promise<number> {
  const [row] = await clickhouse.rowsPatiently<{ wrong: number }>(sql`
    SELECT count() AS wrong
    FROM (SELECT site_id, countIf(name = 'pageview') AS views, uniqExact(visitor_id) AS visitors FROM events GROUP BY site_id) AS counted
    FULL JOIN (
      SELECT site_id, sum(views) AS views, sum(visitors) AS visitors FROM short_rollups
      WHERE rollup_key = 'day 1 total 0 ' GROUP BY site_id
    ) AS stored ON counted.site_id = stored.site_id
    WHERE counted.views != stored.views OR counted.visitors != stored.visitors`)
  return row?.wrong ?? 0
}

/** Days of some sites with any row that differs from the events. */
async function wrongRows(ids: readonly string[]): Promise<number> {
  let wrong = 0
  for (const id of ids.slice(0, verified)) {
    const verdict = await verifySite(stores, id)
    wrong += verdict.wrong.length + verdict.missingDays.length + (verdict.days === 14 ? 0 : 1)
  }
  return wrong
}
