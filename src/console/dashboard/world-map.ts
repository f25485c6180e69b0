// The world, coloured by visitors. dev/world-map made its outlines. Many countries are too small for a finger, so the list is the way to
// filter for everybody; with a pointer, dashboard.js also filters by a click here.
import { readFileSync } from 'node:fs'
import { axisText, counted } from '../../display/formats.ts'
import { type CountryCode, countryNames } from '../../traffic/country.ts'
import { type Html, html } from '../../web/html.ts'
import type { Row } from './answers.ts'
import { addressOf, type DashboardState, filtersWith } from './state.ts'

interface World {
  width: number
  height: number
  countries: Readonly<Record<string, string>>
}

const world = JSON.parse(readFileSync(new URL('../assets/world.json', import.meta.url), 'utf8')) as World

const levels = 5

/**
 * The least visitors of each level. They grow by equal ratios, because most visitors come from few countries: a country with a hundredth of
 * the most is still visible. With few visitors there are fewer levels.
 */
function boundsOf(max: number): number[] {
  const bounds = Array.from({ length: levels }, (_, level) =>
    Math.max(1, Math.ceil(Math.expm1((level / levels) * Math.log1p(max + 1)))),
  )
  return [...new Set(bounds)].filter((bound) => bound <= max)
}

export function worldMap(rows: readonly Row[], state: DashboardState): Html {
  const visitorsOf = new Map(rows.map(({ country, visitors }) => [String(country), Number(visitors)]))
  const bounds = boundsOf(Math.max(1, ...visitorsOf.values()))
  const classOf = (index: number) => `level-${levels - bounds.length + index + 1}`
  const levelOf = (visitors: number) => classOf(bounds.findLastIndex((bound) => bound <= visitors))
  return html`<div class="map">
<svg viewBox="0 0 ${world.width} ${world.height}" role="img" aria-label="Visitors by country on a map of the world; the list has the same numbers and filters by a country">${Object.entries(
    world.countries,
  ).map(([code, path]) => {
    const visitors = visitorsOf.get(code)
    if (!visitors) return html`<path d="${path}"/>`
    const name = `${countryNames[code as CountryCode]}: ${counted(visitors, 'visitor')}`
    const filters = filtersWith(state, 'country', code)
    const href = filters && addressOf(state, { filters })
    return html`<path class="${levelOf(visitors)}"${href && html` data-href="${href}"`} d="${path}"><title>${name}</title></path>`
  })}</svg>
<ul class="legend-of-map" aria-label="Visitors by colour"><li>0</li>${bounds.map((bound, index) => html`<li class="${classOf(index)}">${axisText(bound)}+</li>`)}</ul>
</div>`
}
