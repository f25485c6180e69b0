// Draws docs/scale.svg: latency against the size of the site, from raw events and from rollups, on logarithmic axes.
import { geometricMean } from '../../bench/scale/judge.ts'
import type { ScaleResult } from '../../bench/scale/result.ts'

interface Line {
  label: string
  color: string
  dashed: boolean
  points: [events: number, milliseconds: number][]
}

const width = 760
const height = 420
const plot = { left: 92, right: 570, top: 30, bottom: 360 }

export function scaleChart(result: ScaleResult): string {
  const lines = linesOf(result)
  const all = [...lines.flatMap(({ points }) => points.map(([, value]) => value)), result.floor.p10]
  const decades = {
    from: Math.floor(Math.log10(Math.min(...all))),
    to: Math.ceil(Math.log10(Math.max(...all))),
  }
  const sizes = (lines[0]?.points ?? []).map(([events]) => events)
  const [small, large] = [Math.min(...sizes), Math.max(...sizes)]
  const x = (events: number) =>
    plot.left + ((plot.right - plot.left) * Math.log10(events / small)) / Math.log10(large / small)
  const y = (milliseconds: number) =>
    plot.bottom - ((plot.bottom - plot.top) * (Math.log10(milliseconds) - decades.from)) / (decades.to - decades.from)

  const grid = Array.from({ length: decades.to - decades.from + 1 }, (_, step) => 10 ** (decades.from + step)).map(
    (value) =>
      `<path d="M${plot.left} ${at(y(value))}H${plot.right}" class="grid"/>` +
      `<text x="${plot.left - 8}" y="${at(y(value) + 4)}" text-anchor="end">${value.toLocaleString('en')} ms</text>`,
  )
  const ticks = sizes.map(
    (events) => `<text x="${at(x(events))}" y="${plot.bottom + 22}" text-anchor="middle">${inMillions(events)}</text>`,
  )
  const floor =
    `<path d="M${plot.left} ${at(y(result.floor.p10))}H${plot.right}" class="floor"/>` +
    `<text x="${plot.right + 10}" y="${at(y(result.floor.p10) + 4)}">SELECT 1</text>`
  const labels = spaced(lines.map(({ points }) => y((points.at(-1) as [number, number])[1])))
  const drawn = lines.map(({ label, color, dashed, points }, index) => {
    const path = points
      .map(([events, value], nth) => `${nth === 0 ? 'M' : 'L'}${at(x(events))} ${at(y(value))}`)
      .join('')
    const dots = points.map(
      ([events, value]) => `<circle cx="${at(x(events))}" cy="${at(y(value))}" r="3.5" fill="${color}"/>`,
    )
    const last = (points.at(-1) as [number, number])[1]
    return (
      `<path d="${path}" fill="none" stroke="${color}" stroke-width="2"${dashed ? ' stroke-dasharray="6 4"' : ''}/>${dots.join('')}` +
      `<text x="${plot.right + 10}" y="${at((labels[index] as number) + 4)}" fill="${color}">${label}: ${readable(last)} ms</text>`
    )
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#57606a" role="img">
<title>Latency against the size of a site, from raw events and from rolled-up days</title>
<style>.grid{stroke:#d0d7de;stroke-width:1}.floor{stroke:#57606a;stroke-width:1;stroke-dasharray:2 4}</style>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${[...grid, ...ticks, floor, ...drawn].join('\n')}
<text x="${(plot.left + plot.right) / 2}" y="${plot.bottom + 46}" text-anchor="middle">events of the site in 13 months; geometric mean over the nine reports</text>
</svg>
`
}

function linesOf({ compared, sizes }: ScaleResult): Line[] {
  const places: [site: string, events: number][] = [
    ['whale/100', sizes.hundredth],
    ['whale/10', sizes.tenth],
    ['whale', sizes.whale],
  ]
  return (['12m', '30d'] as const).flatMap((range): Line[] =>
    (['raw', 'rolledUp'] as const).map((kind) => ({
      label: `${kind === 'raw' ? 'raw events' : 'rollups'}, ${range}`,
      color: kind === 'raw' ? '#cf222e' : '#0969da',
      dashed: range === '30d',
      points: places.map(([site, events]) => [
        events,
        geometricMean(
          compared
            .filter((one) => one.site === site && one.range === range && one.filter === 'none')
            .map(({ rawMs, rolledUpMs }) => (kind === 'raw' ? rawMs : rolledUpMs)),
        ),
      ]),
    })),
  )
}

/** Moves the labels at least 16 apart and keeps their order. */
function spaced(wanted: readonly number[]): number[] {
  const placed = [...wanted]
  const order = wanted
    .map((_, index) => index)
    .sort((one, other) => (wanted[one] as number) - (wanted[other] as number))
  for (let nth = 1; nth < order.length; nth++) {
    const [above, here] = [order[nth - 1] as number, order[nth] as number]
    placed[here] = Math.max(placed[here] as number, (placed[above] as number) + 16)
  }
  return placed
}

const at = (value: number): string => value.toFixed(1)
const readable = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(2)
const inMillions = (events: number): string =>
  events >= 950_000 ? `${Math.round(events / 1e6)} million` : Math.round(events).toLocaleString('en')
