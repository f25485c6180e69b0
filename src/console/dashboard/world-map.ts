// The world, coloured by visitors. dev/world-map made its outlines. Many countries are too small for a finger, so the list is the way to
// filter for everybody; with a pointer, dashboard.js also filters by a click here.
import { readFileSync } from 'node:fs'
import { counted } from '../../display/formats.ts'
import { type CountryCode, countryNames } from '../../traffic/country.ts'
import { type Html, html } from '../../web/html.ts'
import type { Row } from './answers.ts'
import { codeOfCountry } from './lists.ts'
import { addressOf, type DashboardState } from './state.ts'

interface World {
  width: number
  height: number
  countries: Readonly<Record<string, string>>
}

const world = JSON.parse(readFileSync(new URL('../assets/world.json', import.meta.url), 'utf8')) as World

const levels = 5

/** Levels of equal ratio, because most visitors come from few countries: a country with a hundredth of the most is still visible. */
const levelOf = (visitors: number, max: number): number =>
  Math.min(levels, 1 + Math.floor((levels * Math.log1p(visitors)) / Math.log1p(max + 1)))

export function worldMap(rows: readonly Row[], state: DashboardState): Html {
  const visitorsOf = new Map(rows.map(({ name, visitors }) => [codeOfCountry(String(name)), Number(visitors)]))
  const max = Math.max(1, ...visitorsOf.values())
  const notDrawn = [...visitorsOf.keys()].filter((code) => code !== undefined && !(code in world.countries))
  return html`<div class="map">
<svg viewBox="0 0 ${world.width} ${world.height}" role="img" aria-label="Visitors by country on a map of the world; the list has the same numbers and filters by a country">${Object.entries(
    world.countries,
  ).map(([key, path]) => {
    const code = key as CountryCode
    const visitors = visitorsOf.get(code)
    if (visitors === undefined) return html`<path d="${path}"/>`
    const name = `${countryNames[code]}: ${counted(visitors, 'visitor')}`
    const href = !('country' in state.locked) && addressOf(state, { filters: { country: code } })
    return html`<path class="level-${levelOf(visitors, max)}"${href && html` data-href="${href}"`} d="${path}"><title>${name}</title></path>`
  })}</svg>
${notDrawn.length > 0 && html`<p class="hint">Too small for the map, or unknown: ${notDrawn.length} more in the list.</p>`}
</div>`
}
