// Draws a demo site for a visual check: `node test/demo/draw.ts [events] [seed] > demo.svg`.
import { generateDemo } from '../../src/demo/generate.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { type Sql, sql, text } from '../../src/stores/clickhouse-sql.ts'
import { connect, createStores, disconnect } from '../support/stores.ts'

interface Bar {
  label: string
  value: number
}

const width = 1_400
const margin = 60

/** A chart: a title, a scale from zero, one bar per value, some labels. */
function chart(title: string, bars: readonly Bar[], top: number, height: number, labelEvery: number): string {
  const most = Math.max(1, ...bars.map(({ value }) => value))
  const step = (width - 2 * margin) / bars.length
  const y = (value: number) => top + height * (1 - value / most)
  const parts = bars.map(({ label, value }, index) => {
    const x = margin + index * step
    const bar = `<rect x="${x.toFixed(1)}" y="${y(value).toFixed(1)}" width="${(step * 0.85).toFixed(2)}" height="${(top + height - y(value)).toFixed(1)}"/>`
    return index % labelEvery === 0 ? `${bar}<text x="${x.toFixed(1)}" y="${top + height + 14}">${label}</text>` : bar
  })
  const scale = [0, 0.5, 1].map((part) => `<text x="4" y="${y(most * part) + 4}">${Math.round(most * part)}</text>`)
  return `<text x="${margin}" y="${top - 8}" font-size="14">${title}</text>${scale.join('')}<g fill="#3367d6">${parts.join('\n')}</g>`
}

/** A table with names and horizontal bars. */
function ranking(title: string, bars: readonly Bar[], left: number, top: number): string {
  const most = Math.max(1, ...bars.map(({ value }) => value))
  const lines = bars.map(({ label, value }, index) => {
    const y = top + 16 * (index + 1)
    return `<rect x="${left}" y="${y - 11}" width="${(320 * value) / most}" height="14" fill="#cfdcf7"/><text x="${left + 4}" y="${y}">${label.replaceAll('&', '&amp;').replaceAll('<', '&lt;')} · ${value}</text>`
  })
  return `<text x="${left}" y="${top - 4}" font-size="14">${title}</text>${lines.join('\n')}`
}

async function draw(clickhouse: ClickHouse, siteId: string, zone: string): Promise<string> {
  const bars = (label: Sql, value: Sql, rest: Sql) =>
    clickhouse.rows<Bar>(
      sql`SELECT toString(${label}) AS label, toFloat64(${value}) AS value FROM events WHERE site_id = ${text(siteId)} ${rest}`,
    )
  const byLabel = sql`GROUP BY label ORDER BY label`
  const byValue = sql`GROUP BY label ORDER BY value DESC LIMIT 16`
  const visitors = sql`uniqExact(day, visitor_id)`
  const local = sql`toTimeZone(time, ${text(zone)})`
  const hour = sql`formatDateTime(${local}, '%H')`
  const views = sql`countIf(name = 'pageview')`
  const lastDays = sql`AND day > (SELECT max(day) - 14 FROM events WHERE site_id = ${text(siteId)})`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="1500" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>`,
    chart('Visitors per day', await bars(sql`day`, visitors, byLabel), 40, 220, 28),
    chart(
      'Visitors per hour, the last fourteen days',
      await bars(sql`formatDateTime(${local}, '%m-%d %H')`, visitors, sql`${lastDays} ${byLabel}`),
      320,
      180,
      24,
    ),
    chart(
      'Hits by hour, Monday to Friday',
      await bars(hour, sql`count()`, sql`AND toDayOfWeek(day) < 6 ${byLabel}`),
      560,
      120,
      1,
    ),
    chart(
      'Hits by hour, weekends',
      await bars(hour, sql`count()`, sql`AND toDayOfWeek(day) > 5 ${byLabel}`),
      740,
      120,
      1,
    ),
    ranking('Pages', await bars(sql`pathname`, views, byValue), margin, 930),
    ranking('Channels', await bars(sql`channel`, visitors, byValue), margin + 450, 930),
    ranking('Countries', await bars(sql`country`, visitors, byValue), margin + 900, 930),
    ranking('Referrers', await bars(sql`referrer`, visitors, sql`AND referrer != '' ${byValue}`), margin, 1_230),
    ranking(
      'UTM sources',
      await bars(sql`utm_source`, visitors, sql`AND utm_source != '' ${byValue}`),
      margin + 450,
      1_230,
    ),
    ranking('Events', await bars(sql`name`, sql`count()`, sql`AND name != 'pageview' ${byValue}`), margin + 900, 1_230),
    '</svg>',
  ].join('\n')
}

const [events = '200000', seed = '1'] = process.argv.slice(2)
const site = { siteId: 'site_drawn', zone: 'Europe/Berlin' }
const { addresses, remove } = await createStores()
const stores = connect(addresses)
const { clickhouse } = stores
await generateDemo({
  clickhouse,
  ...site,
  domain: 'acme.example',
  events: Number(events),
  seed: Number(seed),
  until: Date.now(),
})
console.log(await draw(clickhouse, site.siteId, site.zone))
await disconnect(stores)
await remove()
