import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createKey } from '../../src/accounts/keys.ts'
import { findSite, setExcludedCountries } from '../../src/accounts/sites.ts'
import { reports } from '../../src/stats/reports.ts'
import { countryNames } from '../../src/traffic/country.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { custom, eventOf, type Hit, pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { keySecrets } from '../support/stores.ts'
import { startApi } from '../support/world.ts'
import { entriesOf, forgottenBy, mainOf, openConsole, type Page } from './console.ts'

const now = '2026-03-14T12:00:00Z'

/** Three visitors from France, two from Germany, one from Spain; every list of every report has French entries. */
function hits(): Hit[] {
  const from = (country: 'FR' | 'DE' | 'ES', visitor: string, day: string): Hit[] => {
    const same = { country, visitor, at: `2026-03-${day}T10:00:00Z` } as const
    const source = { referrer: `${country}.example`, channel: 'Referral', utmSource: country } as const
    return [
      pageview({ ...same, ...source, pathname: `/${country}`, device: country === 'FR' ? 'Mobile' : 'Desktop' }),
      custom(`Bought ${country}`, { ...same, ...source, device: country === 'FR' ? 'Mobile' : 'Desktop' }),
    ]
  }
  return [
    ...from('FR', 'a', '01'),
    ...from('FR', 'b', '02'),
    ...from('FR', 'c', '13'),
    ...from('DE', 'd', '13'),
    ...from('DE', 'e', '02'),
    ...from('ES', 'f', '12'),
  ]
}

async function openWithTraffic(t: TestContext) {
  const console = await openConsole(t, { now })
  const { stores, accountId, siteId, domain } = console
  const events = hits().map((hit) => eventOf(hit, siteId, 'UTC'))
  await recordBatch(stores.clickhouse, { id: randomUUID(), events })
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'A key' })
  const headers = { Authorization: `Bearer ${key.text}` }
  return {
    console,
    key,
    page: `/sites/${domain}/settings/exclusions`,
    /** The data of all nine reports. */
    async answers(): Promise<Record<string, unknown>> {
      const found: Record<string, unknown> = {}
      for (const name of Object.keys(reports)) {
        const { status, json } = await console.api.fetch(`/api/v1/stats/${name}?range=30d`, { headers })
        assert.equal(status, 200)
        found[name] = json.data
      }
      return found
    },
  }
}

/** On a busy machine ClickHouse may be too slow for a page, which then says so. */
const withNumbers = (ask: () => Promise<Page>): Promise<Page> =>
  eventually(async () => {
    const page = await ask()
    assert.doesNotMatch(page.text, /cannot be read right now/)
    return page
  })

const numbersIn = (text: string) => {
  const find = (name: string) =>
    Number(new RegExp(`data-${name}">(?:<b>)?([\\d,]+)`).exec(text)?.[1]?.replaceAll(',', ''))
  return {
    now: { visitors: find('now="visitors'), pageviews: find('now="pageviews') },
    after: { visitors: find('then="visitors'), pageviews: find('then="pageviews') },
  }
}

const checkedIn = (text: string): string[] =>
  Array.from(text.matchAll(/value="([A-Z]{2})" checked/g), ([, code]) => code as string)

test('the preview says what the numbers become and changes nothing; all nine reports change at once after saving', async (t) => {
  const { console, page, answers } = await openWithTraffic(t)
  const owner = await console.signedIn('owner')
  const before = await answers()
  const first = (await withNumbers(() => owner.get(page))).text
  const six = { visitors: 6, pageviews: 6 }
  const three = { visitors: 3, pageviews: 3 }
  assert.deepEqual(numbersIn(first), { now: six, after: six })
  assert.match(first, /Numbers of past days change too/)
  assert.match(first, /Nothing changes/)

  const preview = await withNumbers(() => owner.post(page, `${page}/preview`, { country: 'FR' }))
  assert.equal(preview.status, 200)
  assert.deepEqual(numbersIn(preview.text), { now: six, after: three })
  assert.match(preview.text, /3 fewer visitors/)
  assert.deepEqual(checkedIn(preview.text), ['FR'])
  assert.deepEqual(await answers(), before)

  const forgotten = forgottenBy(console)
  const saved = await owner.post(page, page, { country: 'FR' })
  assert.deepEqual(forgotten, [console.siteId])
  assert.deepEqual([saved.status, saved.headers.get('location')], [303, `${page}?saved=yes`])
  const after = await answers()
  for (const name of Object.keys(reports)) assert.notDeepEqual(after[name], before[name], name)
  assert.deepEqual((after.overview as { current: object }).current, {
    ...(after.overview as { current: object }).current,
    ...three,
  })
  assert.doesNotMatch(JSON.stringify(after), /FR/)
  const shown = (await withNumbers(() => owner.get(`${page}?saved=yes`))).text
  assert.match(shown, /Saved\. Every report leaves out France, also for past days\./)
  assert.deepEqual(numbersIn(shown), { now: three, after: three })

  assert.equal(
    (
      await owner.post(page, page, [
        ['country', 'DE'],
        ['country', 'ES'],
      ])
    ).status,
    303,
  )
  assert.equal((await owner.post(page, page, {})).status, 303)
  assert.deepEqual(await answers(), before)
  assert.deepEqual(await entriesOf(console, console.domain), [
    [owner.email, 'site.exclusions_changed', 'none → FR', '127.0.0.0'],
    [owner.email, 'site.exclusions_changed', 'FR → DE, ES', '127.0.0.0'],
    [owner.email, 'site.exclusions_changed', 'DE, ES → none', '127.0.0.0'],
  ])
})

test('another process answers with the new list without being told', async (t) => {
  const { console, key, page } = await openWithTraffic(t)
  const other = await startApi(console.stores, { now: () => Temporal.Instant.from(now).epochMilliseconds })
  t.after(() => other.close())
  const visitors = async () => {
    const { json } = await other.fetch('/api/v1/stats/overview?range=30d', {
      headers: { Authorization: `Bearer ${key.text}` },
    })
    return json.data.current.visitors
  }
  assert.equal(await visitors(), 6)
  await (await console.signedIn('owner')).post(page, page, { country: 'FR' })
  // Within a second, which test/accounts/directory.test.ts measures; a busy machine is slower.
  await eventually(async () => assert.equal(await visitors(), 3))
})

test('the list has every country once, those that are excluded first', async (t) => {
  const console = await openConsole(t)
  await setExcludedCountries(console.stores.postgres, console.siteId, ['RU', 'CN'])
  const owner = await console.signedIn('owner')
  const { text } = await owner.get(`/sites/${console.domain}/settings/exclusions`)
  const codes = Array.from(text.matchAll(/name="country" value="([A-Z]{2})"/g), ([, code]) => code as string)
  assert.deepEqual(codes.toSorted(), Object.keys(countryNames).toSorted())
  assert.deepEqual(codes.slice(0, 4), ['CN', 'RU', 'AF', 'AX'])
  assert.equal(codes.at(-1), 'ZZ')
  assert.deepEqual(checkedIn(text), ['CN', 'RU'])
})

test('an unknown country or too many of them are refused, and what was ticked stays', async (t) => {
  const { console, page, answers } = await openWithTraffic(t)
  const owner = await console.signedIn('owner')
  const before = await answers()
  const many = Array.from({ length: 300 }, () => ['country', 'FR'] as const)
  for (const action of [page, `${page}/preview`]) {
    const unknown = await owner.post(page, action, [
      ['country', 'FR'],
      ['country', '<b>XX'],
      ['country', 'ES'],
    ])
    assert.equal(unknown.status, 422)
    assert.match(unknown.text, /&#60;b&#62;XX is not a country code/)
    assert.deepEqual(checkedIn(unknown.text).toSorted(), ['ES', 'FR'])
    const tooMany = await owner.post(page, action, many)
    assert.equal(tooMany.status, 422)
    assert.match(tooMany.text, /These are 300 countries/)
  }
  assert.deepEqual(await answers(), before)
})

test('a viewer reads the list and cannot change it', async (t) => {
  const console = await openConsole(t)
  await setExcludedCountries(console.stores.postgres, console.siteId, ['RU', 'CN'])
  const viewer = await console.signedIn('viewer')
  const page = `/sites/${console.domain}/settings/exclusions`
  const text = mainOf(await viewer.get(page))
  assert.match(text, /leaves out China and Russia/)
  assert.doesNotMatch(text, /<form|<input/)
  for (const action of [page, `${page}/preview`]) {
    assert.equal((await viewer.post('/account', action, { country: 'FR' })).status, 403)
  }
  assert.deepEqual((await findSite(console.stores.postgres, console.domain))?.excludedCountries, ['RU', 'CN'])
})
