// At the end, with every store up: compares the ledger of acknowledged ids with ClickHouse and with the API's responses for each day,
// compares rollups with events, and checks the deleted site.
import { siteTables } from '../../../src/cluster/tables.ts'
import { storedId } from '../../../src/traffic/recording.ts'
import { eventually } from '../../support/eventually.ts'
import type { Check } from '../runner.ts'
import type { Ledger } from './hits.ts'
import type { ChaosSite, Installation } from './installation.ts'
import { succeed } from './operator.ts'

const timeoutMs = 120_000
/** The zone whose day begins first: no event has a later day than today there. */
const firstZone = 'Pacific/Kiritimati'

/** No process of ours exited, and no shipper was restarted. */
export function noneEnded(check: Check, { server, slow }: Installation): void {
  for (const [name, { child, log }] of Object.entries({ serve: server, 'the second collector': slow })) {
    if (child.exitCode !== null || child.signalCode !== null) {
      check.fault(`${name} ended`, `with ${child.exitCode ?? child.signalCode}`, log().slice(-2_000))
    }
    const shippers = [...log().matchAll(/"shipper":(\d+)/g)].length
    if (shippers !== 1) check.fault(`the shipper of ${name}`, `was started ${shippers} times`, log().slice(-2_000))
  }
}

export async function compareAtEnd(check: Check, installation: Installation, ledger: Ledger) {
  const { steady, restless, doomed, footfall } = installation
  const { perSecond, refused, broken } = ledger
  const totals = { perSecond, acknowledged: 0, lost: 0, twice: 0, unknown: 0, refused, broken }
  for (const answer of ledger.odd.slice(0, 3)) check.fault('answer', answer)
  const sites = [...steady, ...restless]
  for (const site of sites) {
    const acknowledged = new Set(Array.from(ledger.acknowledged.get(site.id) as Set<string>, storedId))
    const held = await idsOf(installation, site, acknowledged.size)
    const found = {
      acknowledged: acknowledged.size,
      lost: [...acknowledged].filter((id) => !held.has(id)).length,
      twice: [...held.values()].filter((times) => times > 1).length,
      unknown: [...held.keys()].filter((id) => !acknowledged.has(id)).length,
    }
    for (const kind of ['lost', 'twice', 'unknown'] as const) {
      if (found[kind] > 0) check.fault(kind, `${found[kind]} of ${acknowledged.size} events of ${site.domain}`)
    }
    for (const kind of ['acknowledged', 'lost', 'twice', 'unknown'] as const) totals[kind] += found[kind]
  }

  for (const { domain } of sites) await succeed(check, installation, 'site', 'timezone', domain, firstZone)
  await rollupsAreRight('as it was left')
  for (const { domain } of restless) await succeed(check, installation, 'rollup', 'run', '--site', domain)
  await rollupsAreRight('after one more rollup run')

  async function rollupsAreRight(when: string): Promise<void> {
    const { code, stdout, stderr } = await footfall('rollup', 'verify', '--json')
    if (code !== 0) check.fault('rollup verify', when, stdout.slice(0, 2_000) || stderr)
    for (const site of sites) {
      await answersOf(check, installation, site, (ledger.acknowledged.get(site.id) as Set<string>).size, when)
    }
  }
  check.say(`${totals.acknowledged} events acknowledged, ${totals.lost} lost, ${totals.twice} twice`)
  return { ...totals, leftOfDeleted: await leftOf(check, installation, doomed) }
}

async function idsOf(installation: Installation, { id }: ChaosSite, expected: number): Promise<Map<string, number>> {
  await eventually(async () => {
    const [row] = await select(installation, `SELECT count() FROM events WHERE site_id = '${id}'`)
    if (Number(row?.[0]) < expected) throw new Error('not all events have arrived')
  }, timeoutMs).catch(() => {})
  const rows = await select(
    installation,
    `SELECT event_id, count() FROM events WHERE site_id = '${id}' GROUP BY event_id`,
  )
  return new Map(rows.map(([event, times]) => [event as string, Number(times)]))
}

/** The API's numbers for the last 30 days, in total and by day. */
async function answersOf(
  check: Check,
  installation: Installation,
  { id, domain }: ChaosSite,
  views: number,
  when: string,
): Promise<void> {
  const { server, accountKey } = installation
  const rows = await select(installation, `SELECT day, count() FROM events WHERE site_id = '${id}' GROUP BY day`)
  const expected = Object.fromEntries(rows.map(([day, count]) => [day, Number(count)]))
  const ask = async (report: string) => {
    const response = await fetch(`${server.url}/api/v1/stats/${report}?range=30d&site_id=${id}`, {
      headers: { Authorization: `Bearer ${accountKey}` },
    })
    return (await response.json()) as { data?: unknown }
  }
  try {
    // A response may be five seconds old, and a change of time zone takes half a second.
    await eventually(async () => {
      const whole = (await ask('overview')) as { data?: { current: { pageviews: number } } }
      const days = (await ask('timeseries')) as { data?: { date: string; pageviews: number }[] }
      const said = days.data?.filter(({ pageviews }) => pageviews > 0).map(({ date, pageviews }) => [date, pageviews])
      const wrong = (said ?? []).filter(([date, pageviews]) => expected[date as string] !== pageviews)
      const missing = Object.keys(expected).filter((day) => !said?.some(([date]) => date === day))
      if (whole.data?.current.pageviews !== views || wrong.length > 0 || missing.length > 0) {
        throw new Error(
          `${domain}: ${whole.data?.current.pageviews} pageviews instead of ${views}; by day ${JSON.stringify(said)} instead of ${JSON.stringify(expected)}`,
        )
      }
    }, 20_000)
  } catch (error) {
    check.fault('API', when, (error as Error).message)
  }
}

/** The rows of the deleted site in all tables. */
async function leftOf(check: Check, installation: Installation, { id, domain }: ChaosSite): Promise<number> {
  const tables = Object.keys(siteTables)
  const count = async () => {
    const parts = tables.map((table) => `(SELECT count() FROM ${table} WHERE site_id = '${id}')`)
    return Number((await select(installation, `SELECT ${parts.join(' + ')}`))[0]?.[0])
  }
  // The erasure runs once a minute, and a late event may come just after it.
  await eventually(async () => {
    if ((await count()) > 0) throw new Error('rows are left')
  }, timeoutMs).catch(() => {})
  const left = await count()
  if (left > 0) check.fault('deleted', `${left} rows of ${domain} are left`)
  return left
}

async function select({ addresses }: Installation, statement: string): Promise<string[][]> {
  const { origin, username, password, pathname } = new URL(addresses.clickhouse)
  const answer = await fetch(`${origin}/?database=${pathname.slice(1)}`, {
    method: 'POST',
    body: `${statement} FORMAT TSV`,
    headers: { Authorization: `Basic ${btoa(`${username}:${password}`)}` },
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'))
}
