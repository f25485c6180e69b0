// docs/scale.md and docs/scale.svg, from the result that `npm run bench:scale -- --write` leaves in docs/scale.json: no figure on
// that page is written by hand.
import { geometricMean, isWhale } from '../../bench/scale/judge.ts'
import type { ScaleResult } from '../../bench/scale/result.ts'
import { assumed, needsOf, type PerCore, perCore } from './scale-arithmetic.ts'
import { scaleChart } from './scale-chart.ts'

const shortRun = `
**This is a short run.** With so little traffic nearly every event is a cell of its own, so folding costs more an event than it does for a
site of a hundred million, and raw events are read quickly: what follows shows the arithmetic, not the figures to plan with.
`

/** Thirteen months. */
const daysMade = 396

/** The files that follow from one result. */
export function scaleFiles(json: string): Record<string, string> {
  const result = JSON.parse(json) as ScaleResult
  return { 'docs/scale.md': scalePage(result), 'docs/scale.svg': scaleChart(result) }
}

function scalePage(result: ScaleResult): string {
  const { machine, sizes, floor, rounds, seconds, measuredAt, judgements } = result
  const one = perCore(result)
  return `# Scale

*Made from [scale.json](scale.json), the result of \`npm run bench:scale -- --write\`, by \`npm run docs\`: no figure here is written by hand.
Measured ${measuredAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpu}, ${machine.memoryGiB} GiB, ${percent(machine.steal)} of the time taken by other machines) in
${Math.round(seconds / 60)} minutes. Times of a shared machine say little by themselves: what counts is the ratio to \`SELECT 1\`, asked after every
answer over the same connection: ${floor.p10} ms (p10), ${floor.median} ms (median), ${rounds} rounds.*

One installation holds a site of ${count(sizes.whale)} events in 13 months (20,000 paths, 120 countries, 2,000 referrers, 40 UTM sources, 30 custom
events), the same site at a tenth and a hundredth of its traffic, and ${count(sizes.smallSites)} small sites with ${count(sizes.small)} events.
Closed days are read folded; today of the largest site from its last count, of the others from raw events.
${isWhale(result) ? '' : shortRun}
![Latency against the size of a site](scale.svg)

## Bounds

| What | Measured | Bound | |
|---|---|---|---|
${judgements.map(({ name, value, bound, ok }) => `| ${name} | ${shown(value)} | ${bound} | ${ok === null ? (bound === 'stated' ? '' : 'not judged at this size') : ok ? 'holds' : '**missed**'} |`).join('\n')}

## Answers on the largest site

Multiples of \`SELECT 1\` (p10), no filter: windows that end yesterday / windows with half of today in them.

${latencyTable(result)}

Geometric means over reports and ranges by filter:

| Filter | ends yesterday | with today | rows read, most |
|---|---|---|---|
${filterRows(result)}

The worst that is accepted, a hundred years with every combination of filters and excluded countries (${result.limits.asked} questions): the slowest
was ${result.limits.slowest || 'none'} with ${shown(result.limits.slowestMs)} ms, the largest ${result.limits.largest || 'none'} with ${mebibytes(result.limits.memory)} MiB in the engine.

## Throughput

32 clients over the small sites, popular ones more often (Zipf, exponent 1), endpoints equally, \`range=30d\`; clients, API and engine share the
cores. Answers a second:

| | ends yesterday | with today |
|---|---|---|
| bare engine, the same statements | ${result.throughput.yesterday.bare} | ${result.throughput.today.bare} |
| API, cache off | ${result.throughput.yesterday.api} | ${result.throughput.today.api} |
| API, cache on | ${result.throughput.yesterday.cached} | ${result.throughput.today.cached} |

## What one core does

| Figure | |
|---|---|
| writing an event, CPU of the engine | ${shown(one.insertMicroseconds)} µs |
| sending an event, CPU of the sender (as JSON, in batches of 20,000) | ${shown(one.sendMicroseconds)} µs |
| folding an event | ${shown(one.foldMicroseconds)} µs |
| folding a small site, all its days in one go | ${shown(one.foldMillisecondsASite)} ms |
| counting half of today of the largest site, every 40 s | ${shown(result.folding.today.cpuSeconds)} s |
| answers a second and core, small sites, with today, no cache | ${shown(one.answers)} |
| disk for an event | ${shown(one.rawBytesAnEvent)} bytes |
| disk for the folded days, by event | ${shown(one.foldedBytesAnEvent)} bytes |
| memory of the engine at the end of the run | ${count(result.residentMiB)} MiB |

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
  const cacheBytes = needs.foldedBytesANodeDay * 30
  const first = nodes.byDisk >= nodes.byCores ? 'disks' : 'cores'
  return `## A million sites, ten billion events a day

| Assumed | |
|---|---|
${Object.values(assumed)
  .map(({ value, meaning }) => `| ${meaning} | ${count(value)} |`)
  .join('\n')}

In the busiest second ${count(needs.eventsASecond)} events arrive and ${count(needs.requestsASecond)} questions are asked. A site lives on one shard, and every
statement names its site, so shards share nothing and the sum is all there is:

| Work | Arithmetic | Cores |
|---|---|---|
| writing | ${count(needs.eventsASecond)}/s x ${shown(one.insertMicroseconds)} µs x ${copies} copies | ${shown(cores.inserting)} |
| sending (collectors, beside the engine) | ${count(needs.eventsASecond)}/s x ${shown(one.sendMicroseconds)} µs | ${shown(cores.sending)} |
| folding events | ${count(assumed.eventsADay.value)} / 86,400 s x ${shown(one.foldMicroseconds)} µs | ${shown(cores.folding)} |
| visiting sites to fold | ${count(assumed.sites.value)} / 86,400 s x ${shown(one.foldMillisecondsASite)} ms | ${shown(cores.foldingSites)} |
| answering | ${count(needs.requestsASecond)}/s / ${shown(one.answers)} | ${shown(cores.answering)} |

| Disk | Arithmetic | Terabytes |
|---|---|---|
| events | ${count(assumed.eventsADay.value)} x ${shown(one.rawBytesAnEvent)} bytes x ${assumed.keptDays.value} days x ${copies} copies | ${terabytes(bytes.raw)} |
| folded days | ${count(assumed.eventsADay.value)} x ${shown(one.foldedBytesAnEvent)} bytes x ${assumed.foldedYears.value} years x ${copies} copies | ${terabytes(bytes.folded)} |

Nodes of ${assumed.nodeCores.value} cores and ${terabytes(assumed.nodeBytes.value)} TB, used to ${percent(assumed.fullest.value)}: ${count(nodes.byCores)} for the cores, ${count(nodes.byDisk)} for the disks, hence **${count(needs.shards)} shards of ${copies} replicas**.
Memory: a shard's folded days of the last month are ${gigabytes(cacheBytes)} GB, which its page cache should hold; add 1 GiB for each question
that may run at once on top of what the engine holds at rest.

What breaks first, in this order:

1. **The ${first}.** ${first === 'disks' ? 'Raw events are what fills them: keeping them for less time, or on object storage, takes nodes away in proportion. Folded days stay.' : 'Of these, the table above says which work: caches take answering down in proportion to what is asked again.'}
2. **The number of parts.** A fold writes parts for each site it visits; ${count(assumed.sites.value)} sites a day are ${count(assumed.sites.value / 86_400)} visits a second over ${count(needs.shards)} shards. The engine
   wants less than one insert a second and table: beyond it, sites have to be folded many to a statement.
3. **One day of one site.** A (site, day) is folded on one node. Whatever does not fit into a node's memory cannot be folded
   in one piece; the site measured here has ${count(eventsOfDay)} events on an average day.
4. **The control plane.** PostgreSQL hears one change a folded site and day, ${count(assumed.sites.value / 86_400)} a second, and passes each on to every API process.
   Redis counts one request in one step: ${count(needs.requestsASecond)} a second are within one core of it, not within two times that.

What is multiplied here was measured on one machine without replication: a network, and replicas that are behind, are not in it.
`
}

const count = (value: number): string =>
  Math.round(value) === value || value >= 100 ? Math.round(value).toLocaleString('en') : shown(value)
const shown = (value: number): string =>
  value >= 1_000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
const percent = (share: number): string => `${shown(share * 100)} %`
const terabytes = (bytes: number): string => shown(bytes / 1e12)
const gigabytes = (bytes: number): string => shown(bytes / 1e9)
const mebibytes = (bytes: number): string => shown(bytes / 1024 ** 2)
