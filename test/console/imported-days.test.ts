// What the console shows of days that were imported as daily sums.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { importDailySums, visitorsOfDays } from '../support/imported-sums.ts'
import { mainOf, openConsole } from './console.ts'

const now = '2026-03-14T12:00:00Z'

async function openImported(t: TestContext, options: { hasEvents: boolean }) {
  const console = await openConsole(t, { now })
  const { stores, siteId, domain } = console
  if (options.hasEvents) {
    const events = [pageview({ at: '2026-03-12T10:00:00Z' })].map((hit) => eventOf(hit, siteId, 'UTC'))
    await recordBatch(stores.clickhouse, { id: randomUUID(), events })
  }
  const files = visitorsOfDays({ '2026-03-02': 10, '2026-03-03': 30, '2026-03-05': 2 })
  await importDailySums(stores, siteId, files, Date.parse(now))
  const owner = await console.signedIn('owner')
  return { owner, path: `/sites/${domain}` }
}

test('the chart hatches imported days that a filter leaves out, with the reason; without a filter they are in the numbers', async (t) => {
  const { owner, path } = await openImported(t, { hasEvents: true })
  const all = await owner.get(`${path}?range=30d`)
  assert.match(mainOf(all), /data-value="30" [^>]*data-first="2026-03-03"/)
  assert.match(mainOf(all), /2026-03-02 to 2026-03-03, 2026-03-05 are imported as daily sums of another product/)
  assert.doesNotMatch(mainOf(all), /left-out/)
  // There is no list of pages in the file.
  assert.match(mainOf(all), /Without some imported days, because the import has no such list: page/)

  const filtered = mainOf(await owner.get(`${path}?range=30d&filter=device:is:desktop`))
  const hatched = [...filtered.matchAll(/<rect class="left-out"[^>]*><title>([^<]*)<\/title>/g)].map(([, why]) => why)
  const why = 'Left out, because sums of another product cannot be filtered.'
  assert.deepEqual(hatched, [why, why])
  assert.ok(filtered.includes(`<p class="hatched-note"><i></i>${why}</p>`))
  const rows = [...filtered.matchAll(/<tr[^>]*data-first="(2026-03-0\d)"[^>]*>.*?<\/tr>/g)]
  const marked = rows.filter(([row]) => row.includes('left out')).map(([, day]) => day)
  assert.deepEqual(marked, ['2026-03-02', '2026-03-03', '2026-03-05'])
})

test('a site that has only imported days shows them, and all time begins with them', async (t) => {
  const { owner, path } = await openImported(t, { hasEvents: false })
  const page = mainOf(await owner.get(`${path}?range=all`))
  assert.match(page, /data-first="2026-03-02"/)
  assert.doesNotMatch(page, /data-first="2026-03-01"/)
})

test('the preview of an exclusion names the imported days that it hides', async (t) => {
  const { owner, path } = await openImported(t, { hasEvents: true })
  const exclusions = `${path}/settings/exclusions`
  const hint = /leaves them out while a country is excluded: 2026-03-02 to 2026-03-03, 2026-03-05/
  assert.doesNotMatch(mainOf(await owner.get(exclusions)), hint)
  const page = await owner.post(exclusions, `${exclusions}/preview`, { country: 'FR' })
  assert.match(
    mainOf(page),
    /Every other number leaves them out while a country is excluded: 2026-03-02 to 2026-03-03, 2026-03-05\./,
  )
})
