// Draws docs/peers.svg: how long an answer takes by product, as bars on a logarithmic axis.
import { peerRanges } from '../../bench/peers/questions.ts'
import type { Cell, PeersResult } from '../../bench/peers/result.ts'
import { geometricMean } from '../../bench/scale/judge.ts'

const width = 760
const [left, right] = [190, 640]
const [barHeight, rowHeight, groupGap] = [14, 18, 34]

/** Readable on white and on the dark page of a forge. */
const colors = ['#0a7c52', '#5850ec', '#9e97f0', '#d97706', '#8c6a3f']

export function peersChart({ cells, sides, events }: PeersResult): string {
  const groups = [true, false].flatMap((isReport) =>
    peerRanges.map((range) => ({
      title: `${isReport ? 'the nine reports' : 'filtered questions'}, ${range}`,
      bars: sides.flatMap(({ name }, index) => {
        const times = timesOf(cells, name, { range, isReport })
        return times.length > 0
          ? [{ name, color: colors[index % colors.length] as string, ms: geometricMean(times) }]
          : []
      }),
    })),
  )
  const all = groups.flatMap(({ bars }) => bars.map(({ ms }) => ms))
  const [from, to] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))]
  const x = (ms: number) => left + ((right - left) * (Math.log10(ms) - from)) / (to - from)
  let y = 20
  const drawn: string[] = []
  for (const { title, bars } of groups) {
    drawn.push(`<text x="${left}" y="${y}" class="title">${title}</text>`)
    y += 10
    for (const { name, color, ms } of bars) {
      drawn.push(
        `<text x="${left - 10}" y="${y + 11}" text-anchor="end">${name}</text>` +
          `<rect x="${left}" y="${y}" width="${Math.max(1, x(ms) - left).toFixed(1)}" height="${barHeight}" rx="3" fill="${color}"/>` +
          `<text x="${(x(ms) + 8).toFixed(1)}" y="${y + 11}">${readable(ms)} ms</text>`,
      )
      y += rowHeight
    }
    y += groupGap
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 6}" font-family="system-ui, sans-serif" font-size="12.5" fill="#57606a" role="img">
<title>Time of an answer by product, geometric means, logarithmic</title>
<style>.title{font-weight:600;fill:#24292f}</style>
<rect width="${width}" height="${y + 6}" fill="#ffffff"/>
${drawn.join('\n')}
<text x="${left}" y="${y - 8}">${Math.round(events).toLocaleString('en')} events in 13 months; geometric means, logarithmic</text>
</svg>
`
}

const timesOf = (cells: readonly Cell[], name: string, of: Pick<Cell, 'range' | 'isReport'>): number[] =>
  cells
    .filter(({ range, isReport }) => range === of.range && isReport === of.isReport)
    .flatMap(({ sides }) => sides.filter((side) => side.name === name).map(({ p10 }) => p10))

const readable = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(2)
