// Generates docs/scale.md and docs/scale.svg from docs/scale.json, which `npm run bench:scale -- --write` writes. No figure on that page is
// written by hand.
import { geometricMean, isWhale } from '../../bench/scale/judge.ts'
import type { ScaleResult } from '../../bench/scale/result.ts'
import { assumed, measuredElsewhere, needsOf, type PerCore, perCore } from './scale-arithmetic.ts'
import { scaleChart } from './scale-chart.ts'

const shortRun = `
**This is a short run.** With little traffic nearly every event needs its own rollup rows, so rolling up costs more per event than for a site of a hundred
million events, and reading raw events is fast. This page then shows the arithmetic, but not figures to plan with.
`

const olderTables = `
**These figures are older than the tables of today.** Since then disk has become about half as much, rolling up costs about three times as much, and the
slowest accepted request takes longer: [D-173](decisions/D-173-months-for-every-dimension.md) and
[D-175](decisions/D-175-compression-of-rollups.md) have what was measured.
`

/** When columns and codecs of events and rollups last changed. */
const tablesChanged = '2026-11-16'

/** The benchmark generates thirteen months of traffic. */
const daysMade = 396

/** The files that are generated from one result. */
export function scaleFiles(json: string): Record<string, string> {
  const result = JSON.parse(json) as ScaleResult
  return { 'docs/scale.md': scalePage(result), 'docs/scale.svg': scaleChart(result) }
}

function scalePage(result: ScaleResult): string {
  const { machine, sizes, floor, rounds, seconds, measuredAt, judgements } = result
  const one = perCore(result)
  return `# Scale

*\`npm run docs\` generates this page from [scale.json](scale.json), the result of \`npm run bench:scale -- --write\`; no figure is written by hand.
Measured ${measuredAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpu}, ${machine.memoryGiB} GiB, other machines took ${percent(machine.steal)} of the time) in
${Math.round(seconds / 60)} minutes. Times on a shared machine vary, so the ratio to \`SELECT 1\` matters. The benchmark runs \`SELECT 1\` after every query
on the same connection: ${floor.p10} ms (p10), ${floor.median} ms (median), ${rounds} rounds.*

One installation holds a site with ${count(sizes.whale)} events in 13 months (20,000 paths, 120 countries, 2,000 referrers, 40 UTM sources, 30 custom
events), the same site at a tenth and a hundredth of its traffic, and ${count(sizes.smallSites)} small sites with ${count(sizes.small)} events.
Reports read closed days from rollups. They read today from its last count for the largest site, and from raw events for the others.
${isWhale(result) ? '' : shortRun}${measuredAt < tablesChanged ? olderTables : ''}
![Latency against the size of a site](scale.svg)

## Bounds

| What | Measured | Bound | |
|---|---|---|---|
${judgements.map(({ name, value, bound, ok }) => `| ${name} | ${shown(value)} | ${bound} | ${ok === null ? (bound === 'stated' ? '' : 'not judged at this size') : ok ? 'holds' : '**missed**'} |`).join('\n')}

## Latency on the largest site

The numbers are multiples of \`SELECT 1\` (p10), without filters: first for windows that end yesterday, then for windows that include half of today.

${latencyTable(result)}

Geometric means over reports and ranges by filter:

| Filter | ends yesterday | with today | rows read, most |
|---|---|---|---|
${filterRows(result)}

The most expensive queries that the API accepts cover a hundred years, with every combination of filters and excluded countries (${result.limits.asked} queries). The slowest
was ${result.limits.slowest || 'none'} with ${shown(result.limits.slowestMs)} ms; ${result.limits.largest || 'none'} took the most memory in ClickHouse, ${mebibytes(result.limits.memory)} MiB.

## Throughput

32 clients query the small sites with \`range=30d\`: popular sites more often (Zipf, exponent 1), all endpoints equally often. Clients, API and ClickHouse
share the cores. Responses per second:

| | ends yesterday | with today |
|---|---|---|
| bare ClickHouse, the same statements | ${result.throughput.yesterday.bare} | ${result.throughput.today.bare} |
| API, cache off | ${result.throughput.yesterday.api} | ${result.throughput.today.api} |
| API, cache on | ${result.throughput.yesterday.cached} | ${result.throughput.today.cached} |

## Cost per core

| Figure | |
|---|---|
| CPU time of ClickHouse to write an event | ${shown(one.insertMicroseconds)} µs |
| CPU time of the sender to send an event (as JSON, in batches of 20,000) | ${shown(one.sendMicroseconds)} µs |
| CPU time to roll up an event | ${shown(one.rollupMicroseconds)} µs |
| CPU time of a collector to receive an event over HTTP and store it on disk (\`npm run ${measuredElsewhere.collectMicroseconds.by}\`) | ${shown(one.collectMicroseconds)} µs |
| CPU time to roll up one of many small sites (\`npm run ${measuredElsewhere.smallSiteMilliseconds.by}\`) | ${shown(one.rollupMillisecondsPerSite)} ms |
| CPU time to count half of today for the largest site, every 40 s | ${shown(result.rollups.today.cpuSeconds)} s |
| responses per second and core, small sites, with today, without cache | ${shown(one.answers)} |
| disk for an event | ${shown(one.rawBytesAnEvent)} bytes |
| disk for rollups, per event | ${shown(one.rollupBytesPerEvent)} bytes |
| memory of ClickHouse at the end of the run | ${count(result.residentMiB)} MiB |

${arithmetic(one, Math.round(sizes.whale / daysMade))}
`
}

function latencyTable({ cells, floor }: ScaleResult): string {
  const whale = cells.filter(({ site, filter }) => site === 'whale' && filter === 'none')
  const ranges = [...new Set(whale.map(({ range }) => range))]
  const names = [...new Set(whale.map(({ report }) => report))]
  const times = (report: string, range: string, window: string) => {
    const cell = whale.find((one) => one.report === report && one.range === range && one.window === window)
    return cell ? (cell.p10 / floor.p10).toFixed(1) : '-'
  }
  const rows = names.map(
    (name) =>
      `| ${name} | ${ranges.map((range) => `${times(name, range, 'yesterday')} / ${times(name, range, 'today')}`).join(' | ')} |`,
  )
  return `| Report | ${ranges.join(' | ')} |\n|---|${ranges.map(() => '---|').join('')}\n${rows.join('\n')}`
}

function filterRows({ cells, floor }: ScaleResult): string {
  const whale = cells.filter(({ site }) => site === 'whale')
  return [...new Set(whale.map(({ filter }) => filter))]
    .map((filter) => {
      const some = whale.filter((cell) => cell.filter === filter)
      const mean = (window: string) =>
        geometricMean(some.filter((cell) => cell.window === window).map(({ p10 }) => p10 / floor.p10)).toFixed(1)
      const rows = Math.max(...some.map((cell) => cell.rows))
      return `| ${filter} | ${mean('yesterday')} | ${mean('today')} | ${count(rows)} |`
    })
    .join('\n')
}

function arithmetic(one: PerCore, eventsOfDay: number): string {
  const needs = needsOf(one)
  const { cores, bytes, nodes } = needs
  const copies = assumed.replicas.value
  const cacheBytes = needs.rollupBytesPerNodeDay * 30
  const first = nodes.byDisk >= nodes.byCores ? 'disks' : 'cores'
  return `## A million sites, ten billion events per day

| Assumed | |
|---|---|
${Object.values(assumed)
  .map(({ value, meaning }) => `| ${meaning} | ${count(value)} |`)
  .join('\n')}

In the busiest second ${count(needs.eventsASecond)} events arrive and the API answers ${count(needs.requestsASecond)} requests. Each site is on one shard and every
statement names its site, so shards share nothing and the costs simply add up:

| Work | Arithmetic | Cores |
|---|---|---|
| writing | ${count(needs.eventsASecond)}/s x ${shown(one.insertMicroseconds)} µs x ${copies} copies | ${shown(cores.inserting)} |
| rolling up events | ${count(assumed.eventsADay.value)} / 86,400 s x ${shown(one.rollupMicroseconds)} µs | ${shown(cores.rollups)} |
| visiting sites to roll up | ${count(assumed.sites.value)} / 86,400 s x ${shown(one.rollupMillisecondsPerSite)} ms | ${shown(cores.rollupSites)} |
| answering | ${count(needs.requestsASecond)}/s / ${shown(one.answers)} | ${shown(cores.answering)} |

A replica copies finished parts instead of sorting rows, so writing a copy costs less than is counted here. The collectors are machines of
their own: ${count(needs.eventsASecond)}/s x (${shown(one.collectMicroseconds)} + ${shown(one.sendMicroseconds)} µs) need **${count(needs.collectorCores)} cores**.

| Disk | Arithmetic | Terabytes |
|---|---|---|
| events | ${count(assumed.eventsADay.value)} x ${shown(one.rawBytesAnEvent)} bytes x ${assumed.keptDays.value} days x ${copies} copies | ${terabytes(bytes.raw)} |
| rollups | ${count(assumed.eventsADay.value)} x ${shown(one.rollupBytesPerEvent)} bytes x ${assumed.rollupYears.value} years x ${copies} copies | ${terabytes(bytes.rolledUp)} |

A node has ${assumed.nodeCores.value} cores and ${terabytes(assumed.nodeBytes.value)} TB, of which ${percent(assumed.fullest.value)} are used. The cores need ${count(nodes.byCores)} nodes and the disks ${count(nodes.byDisk)}, which makes **${count(needs.shards)} shards of ${copies} replicas**.
A shard's rollups of the last month take ${gigabytes(cacheBytes)} GB, which its page cache should hold. On top of the memory that ClickHouse takes at rest, add
1 GiB for each query that may run at the same time.

In the busiest second the collectors send ${megabytes(needs.network.toClickHouse)} MB to ClickHouse and the replicas copy ${megabytes(needs.network.toReplicas)} MB from each other. A query sends
kilobytes. With the prices assumed above, **a billion events cost ${count(needs.billPerBillion)} euros**, nearly all of it for disks that keep what came earlier.

The number of parts does not grow with the number of sites: one statement rolls up hundreds of small sites
([D-200](decisions/D-200-many-small-sites-in-one-statement.md)).

This breaks first, in this order:

1. **The ${first}.** ${first === 'disks' ? 'Raw events fill them. If you keep events for less time, or on object storage, you need fewer nodes in proportion. Rollups stay.' : 'The table above says which work takes most of them. A cache reduces the cores for answering in proportion to repeated queries.'}
2. **One day of one site.** One node rolls up a day of a site. A day that does not fit into the memory of a node cannot be rolled up
   in one piece. The site measured here has ${count(eventsOfDay)} events on an average day.
3. **The control plane.** PostgreSQL gets one change for each rolled-up day of a site, ${count(assumed.sites.value / 86_400)} per second, and notifies every API process of each.
   Redis counts each request in one step: one core of Redis can count ${count(needs.requestsASecond)} requests per second, but not twice as many.

## When a log belongs between collectors and shards

Each collector sends a batch per second to each shard. ClickHouse's documentation recommends about one insert per second; ten collectors make
ten. From there on a log belongs between them (Kafka, Redpanda, NATS JetStream): one subject per shard, which all collectors append to, and one writer per shard, which inserts a large batch per second.

What would change is the end of the shipper: it would append a group of events to the subject of its shard instead of inserting a batch, and
forget it when the log has it on several disks. The writer would take the batch's id from the range of sequence numbers, so that a repeated
batch has the same id. Nothing else would: the spool stays, because a collector must not depend on the log either, and so do the looks for
what is already there. Three nodes of NATS JetStream with three copies and fsync for every message took 1,300 to 2,400 groups of 32 kB per
second on two cores, about 100 events each, and lost nothing when the leader was killed.

All these figures come from one machine. Replicas were tested on it ([cluster](cluster.md)), but not measured with disks and a network of their own.
`
}

const count = (value: number): string =>
  Math.round(value) === value || value >= 100 ? Math.round(value).toLocaleString('en') : shown(value)
const shown = (value: number): string =>
  value >= 1_000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
const percent = (share: number): string => `${shown(share * 100)} %`
const terabytes = (bytes: number): string => shown(bytes / 1e12)
const megabytes = (bytes: number): string => shown(bytes / 1e6)
const gigabytes = (bytes: number): string => shown(bytes / 1e9)
const mebibytes = (bytes: number): string => shown(bytes / 1024 ** 2)
