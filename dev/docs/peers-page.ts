// Generates docs/peers.md and docs/peers.svg from docs/peers.json, which `npm run bench:peers -- --write` writes. No figure on that page is
// written by hand.
import { peerRanges } from '../../bench/peers/questions.ts'
import type { Cell, PeersResult, SideResult } from '../../bench/peers/result.ts'
import { peersChart } from './peers-chart.ts'

/** The files that are generated from the results, one of each size. */
export function peersFiles(json: string): Record<string, string> {
  const results = JSON.parse(json) as PeersResult[]
  const largest = results.at(-1)
  if (!largest) return {}
  return { 'docs/peers.md': peersPage(results, largest), 'docs/peers.svg': peersChart(largest) }
}

const peersPage = (results: readonly PeersResult[], largest: PeersResult): string => `# Beside other products

*\`npm run docs\` generates this page from [peers.json](peers.json), the results of \`npm run bench:peers -- --write\`; no figure is written by hand.*

The same traffic is written into the tables of Footfall, Plausible and Umami on one ClickHouse (Umami's other edition: on PostgreSQL), and all are asked
the same questions in turn, in one run, on one machine. The times are those of the statements, without HTTP and without caches; Footfall's are those of its API's service.
Answers are compared, too.

![Time of an answer by product](peers.svg)

## What each product does that the others do not

- **Plausible** estimates large numbers of visitors, and its hosted edition samples large ranges: it needs no rollups, so every question costs about the same,
  whatever was foreseen. It has funnels, scroll depth, time on page and regions and cities, which Footfall does not have.
- **Umami** has one edition that needs only PostgreSQL, and one on ClickHouse that sums events by hour. It has journeys, retention, session lists and session
  replays, which Footfall does not have.
- **Footfall** counts every day exactly and keeps the counts. Lists without filters and with its four short filters are read from them, all others from
  sessions or events. It pays for that when it writes: see the tables of disk and CPU.

Tables and statements of the other products were written for this benchmark after reading their repositories; nothing is copied. Each file in
\`bench/peers\` names what it follows, and what was decided in favour of the other product:

${largest.sides
  .filter(({ name }) => name !== 'Footfall')
  .map(({ name, source }) => `- ${name}: ${source}`)
  .join('\n')}

## Repeat it

\`\`\`
npm run bench:peers -- --events 10000000
\`\`\`

The tables are filled once and kept in the cache folder. With \`--write\` the result replaces the one of about the same size on this page.

${results.map(sectionOf).join('\n\n')}
`

function sectionOf({ events, rounds, machine, measuredAt, sides: all, cells, timesFaster }: PeersResult): string {
  // Small sites are never sampled.
  const sides = all.filter(({ name }) => cells.some((cell) => cell.sides.some((side) => side.name === name)))
  const names = sides.map(({ name }) => name)
  return `## ${count(events)} events in 13 months

Measured ${measuredAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpu}, ${machine.memoryGiB} GiB; other machines took ${(100 * machine.steal).toFixed(1)} % of the time),
${rounds} rounds. Geometric means of how many times longer the fastest other product takes, be its answer exact or sampled:

| | ${peerRanges.join(' | ')} |
|---|${peerRanges.map(() => '---|').join('')}
| the nine reports | ${peerRanges.map((range) => timesFaster.reports[range]).join(' | ')} |
| filtered questions | ${peerRanges.map((range) => timesFaster.filtered[range]).join(' | ')} |

Milliseconds (p10). **≠**: the answer differs from Footfall's, by the percentage at most that follows.

| Question | ${names.join(' | ')} |
|---|${names.map(() => '---:|').join('')}
${cells.map((cell) => `| ${cell.question} | ${names.map((name) => timeOf(cell, name)).join(' | ')} |`).join('\n')}

| Disk and CPU | ${names.join(' | ')} |
|---|${names.map(() => '---:|').join('')}
| bytes per event on disk | ${sides.map(({ bytesPerEvent }) => bytesPerEvent).join(' | ')} |
| microseconds of CPU to write an event${sides.some(({ name }) => name.endsWith('PostgreSQL')) ? ' (PostgreSQL: of time)' : ''} | ${sides.map(({ writingMicroseconds }) => writingMicroseconds).join(' | ')} |
| microseconds of CPU to roll it up | ${sides.map(({ rollingUpMicroseconds }) => rollingUpMicroseconds ?? '–').join(' | ')} |

Why answers differ:

${sides.flatMap((side) => reasonsOf(side, cells)).join('\n')}`
}

function timeOf({ sides }: Cell, name: string): string {
  const side = sides.find((one) => one.name === name)
  if (!side) return '–'
  return `${readable(side.p10)}${side.different > 0 ? ` ≠ ${side.percent} %` : ''}`
}

function reasonsOf({ name }: SideResult, cells: readonly Cell[]): string[] {
  const questionsOf = new Map<string, Set<string>>()
  for (const { question, sides } of cells)
    for (const reason of sides.find((side) => side.name === name)?.reasons ?? [])
      questionsOf.set(reason, (questionsOf.get(reason) ?? new Set()).add(question.replace(/,.*/, '')))
  return [...questionsOf].map(([reason, asked]) => `- ${name} (${[...asked].join(', ')}): ${reason}.`)
}

const count = (value: number): string => Math.round(value).toLocaleString('en')
const readable = (value: number): string => (value >= 100 ? count(value) : value.toFixed(1))
