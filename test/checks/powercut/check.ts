// Cuts the power under load. The spool and ClickHouse are on their own disk. At a random moment the disk is copied as it is, and a new
// ClickHouse and a new collector start on the copy: every event acknowledged by then is there, once.
//   npm run check:powercut -- --n 50

import { join } from 'node:path'
import { startClickHouse } from '../../../dev/clickhouse/server.ts'
import { openSpoolFile, spoolFiles } from '../../../src/collector/spool/files.ts'
import type { SpooledEvent } from '../../../src/collector/spool/spooled-event.ts'
import { storedId } from '../../../src/traffic/recording.ts'
import { startCollectorProcess } from '../../support/collector-process.ts'
import { eventually } from '../../support/eventually.ts'
import { seeded } from '../../support/random.ts'
import { type Installation, install } from '../collect/installation.ts'
import { startLoad } from '../collect/load.ts'
import { type Check, pause, runCheck } from '../runner.ts'
import { type Disk, makeDisk } from './disks.ts'

const megabytes = 1_500
const lanes = 16
const pauseMs = 5

await runCheck({ name: 'powercut', options: { n: 3 }, seconds: ({ n }) => 180 + 60 * n }, async (check, { n }) => {
  const random = seeded(check.seed)
  const disk = makeDisk(check, megabytes)
  const installation = await install(check, join(disk.folder, 'footfall'))
  await installation.startCollector()
  const site = await installation.newSite()
  const load = startLoad({ url: installation.collector.url, domain: site.domain, lanes, pauseMs })
  const totals = { cuts: 0, clickhousesStarted: 0, acknowledged: 0, unshipped: 0, lost: 0, twice: 0 }
  for (let cut = 1; cut <= n; cut++) {
    await pause(1_000 + random.below(2_000))
    const { copy, acknowledged } = await cutPower(installation, disk, load.ledger.acknowledged)
    totals.cuts++
    totals.acknowledged = acknowledged.size
    const found = await startOn(check, installation, copy, site.id, acknowledged)
    totals.clickhousesStarted++
    totals.unshipped += found.unshipped
    totals.lost += found.lost
    totals.twice += found.twice
    copy.remove()
    check.say(`cut ${cut} of ${n}: ${acknowledged.size} acknowledged, ${JSON.stringify(found)}`)
  }
  await load.stop()
  return totals
})

/** Stops all writers while the disk is copied, and then lets them continue. */
async function cutPower({ collector, clickhousePid }: Installation, disk: Disk, ledger: ReadonlySet<string>) {
  const writers = [collector.pid, collector.shipperPid() as number, clickhousePid()]
  for (const pid of writers) process.kill(pid, 'SIGSTOP')
  try {
    await pause(300) // read the acknowledgements that were already sent: they count
    const acknowledged = new Set([...ledger].map(storedId))
    return { copy: disk.copy(), acknowledged }
  } finally {
    for (const pid of writers) process.kill(pid, 'SIGCONT')
  }
}

/** The events of all groups that are still in a file of the spool. */
function spooledIds(folder: string): Set<string> {
  const ids = new Set<string>()
  for (const number of spoolFiles(folder)) {
    const file = openSpoolFile(folder, number)
    for (const { lines } of file.prepare('SELECT lines FROM groups').all() as { lines: string }[]) {
      for (const line of lines.split('\n')) ids.add(storedId((JSON.parse(line) as SpooledEvent).event.eventId))
    }
    file.close()
  }
  return ids
}

async function startOn(
  check: Check,
  { addresses }: Installation,
  copy: Disk,
  siteId: string,
  acknowledged: ReadonlySet<string>,
) {
  const clickhouseServer = await startClickHouse({ folder: join(copy.folder, 'footfall/clickhouse') })
  try {
    const clickhouse = `${clickhouseServer.url}${new URL(addresses.clickhouse).pathname}`
    const ask = async (statement: string): Promise<Map<string, number>> => {
      const answer = await fetch(`http://127.0.0.1:${clickhouseServer.port}/?user=footfall&password=footfall`, {
        method: 'POST',
        body: `${statement} FORMAT TSV`,
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(text)
      return new Map(
        text
          .split('\n')
          .filter(Boolean)
          .map((line) => [line.split('\t')[0] as string, Number(line.split('\t')[1])]),
      )
    }
    const table = `${new URL(addresses.clickhouse).pathname.slice(1)}.events`
    const rows = () => ask(`SELECT event_id, count() FROM ${table} WHERE site_id = '${siteId}' GROUP BY event_id`)
    const before = await eventually(rows, 20_000)
    const collector = await startCollectorProcess(
      { ...addresses, clickhouse },
      { spoolFolder: join(copy.folder, 'footfall/spool') },
    )
    const missing = (held: { has(id: string): boolean }) => [...acknowledged].filter((id) => !held.has(id)).length
    await eventually(async () => {
      if (missing(await rows()) > 0) throw new Error('not all events have arrived')
    }, 60_000).catch(() => {})
    await collector.stop()
    const held = await rows()
    // A busy machine may not have shipped all events yet. Those are still in the spool: late, but not lost.
    const spooled = spooledIds(join(copy.folder, 'footfall/spool'))
    const lost = missing({ has: (id) => held.has(id) || spooled.has(id) })
    const late = missing(held) - lost
    if (late > 0) check.say(`${late} events were not shipped after a minute`)
    const twice = [...held.values()].filter((times) => times > 1).length
    if (lost > 0) check.fault('lost', `${lost} of ${acknowledged.size} acknowledged events`)
    if (twice > 0) check.fault('twice', `${twice} events`)
    return { unshipped: missing(before), late, lost, twice }
  } finally {
    await clickhouseServer.kill()
  }
}
