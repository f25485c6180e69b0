// Notes on days of a site: on the chart, in its settings, by Footfall itself, and behind shared links (decision D-242).
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { inTransaction } from '../../src/stores/postgres.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { addNote, changeNote, noteChange, notesOf, removeNote } from '../../src/users/notes.ts'
import { addSharedLink, renewSharedLink, sharedLinksOf } from '../../src/users/shared-links.ts'
import { eventOf, pageview } from '../support/events.ts'
import { keySecrets } from '../support/stores.ts'
import { entriesOf, mainOf, openConsole, type Page } from './console.ts'
import { decode, textOf } from './dashboard-page.ts'

const now = '2026-11-15T12:00:00Z'
const actor = { actor: 'maria@example.com' }

async function openNotes(t: TestContext) {
  const console = await openConsole(t, { now })
  const { stores, siteId, domain } = console
  const hits = [13, 14, 15].map((day) => pageview({ at: `2026-11-${day}T10:00:00Z`, visitor: `v${day}` }))
  await recordBatch(stores.clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, siteId, 'UTC')) })
  const site = (await findSite(stores.postgres, siteId)) as Site
  return {
    console,
    site,
    postgres: stores.postgres,
    dashboard: `/sites/${domain}`,
    page: `/sites/${domain}/settings/notes`,
    add: (day: string, text: string) => addNote(stores.postgres, actor, site, { day, text }),
    stored: async () => (await notesOf(stores.postgres, siteId)).map(({ day, text, cause }) => [day, text, cause]),
  }
}

/** The list below the chart. */
const listIn = ({ text }: Page): string[] => {
  const list = /<section class="chart-notes".*?<\/section>/s.exec(text)?.[0] ?? ''
  return [...list.matchAll(/<li[^>]*>(.*?)<\/li>/gs)].map(([, item = '']) =>
    textOf(item.replace('</time>', ' </time>').replace(/<a .*?<\/a>/, '')).trim(),
  )
}

/** Row by row what the tooltip of the chart says of notes. */
const notedIn = ({ text }: Page): string[] =>
  [...text.matchAll(/<tr[^>]* data-note="([^"]*)"[^>]*><th scope="row">(.*?)<\/th>/g)].map(
    ([, note = '', name = '']) => `${textOf(name)}: ${decode(note)}`,
  )

const flagsIn = ({ text }: Page): number => text.match(/<path class="cloth" d="M0 2h/g)?.length ?? 0

const linkIn = ({ text }: Page, name: string): string =>
  decode(new RegExp(`<a[^>]*href="([^"]*/settings/notes/[^"]*)"[^>]*>${name}`).exec(text)?.[1] ?? '')

test('an owner adds a note from the day of the chart, and everybody who sees the site reads it', async (t) => {
  const { console, dashboard, page, stored } = await openNotes(t)
  const [owner, viewer] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  const day = await owner.get(`${dashboard}?range=custom&start=2026-11-14&end=2026-11-14`)
  const form = linkIn(day, 'Add a note')
  const back = 'range=custom&start=2026-11-14&end=2026-11-14'
  assert.equal(form, `${page}/new?${new URLSearchParams({ day: '2026-11-14', back })}`)
  assert.match((await owner.get(form)).text, /<input type="date" name="day"[^>]* value="2026-11-14">/)
  // Each day of a longer range has its own link.
  const week = await owner.get(`${dashboard}?range=7d`)
  assert.ok(
    linkIn(week, 'Add a note<span class="unseen"> on Fri 13 November').startsWith(`${page}/new?day=2026-11-13&`),
  )
  const saved = await owner.post(form, page, { day: '2026-11-14', text: ' Launched <b>pricing</b> ', back })
  assert.deepEqual([saved.status, saved.headers.get('location')], [303, `${dashboard}?${back}`])
  assert.deepEqual(await stored(), [['2026-11-14', 'Launched <b>pricing</b>', null]])

  const shown = await viewer.get(`${dashboard}?range=7d`)
  assert.deepEqual(listIn(shown), ['14 Nov Launched <b>pricing</b>'])
  assert.deepEqual(notedIn(shown), ['Sat 14 November: Launched <b>pricing</b>'])
  assert.equal(flagsIn(shown), 1)
  assert.match(shown.text, /<a href="#notes">.*?1 note<\/a>/)
  assert.deepEqual([linkIn(shown, 'Add a note'), linkIn(shown, 'Change')], ['', ''])
  assert.deepEqual(listIn(await viewer.get(`${dashboard}?range=custom&start=2026-11-15&end=2026-11-15`)), [])
  assert.deepEqual(
    (await entriesOf(console, console.domain)).map(([, action, details]) => [action, details]),
    [['note.created', '2026-11-14: Launched <b>pricing</b>']],
  )
})

test('a note marks the hour, day, week or month that its day is in', async (t) => {
  const { console, dashboard, add } = await openNotes(t)
  await add('2026-11-14', 'One')
  await add('2026-11-15', 'Two')
  await add('2026-11-14', 'Three')
  const viewer = await console.signedIn('viewer')
  const noted = async (query: string) => notedIn(await viewer.get(`${dashboard}?${query}`))
  assert.deepEqual(await noted('range=7d'), ['Sat 14 November: One · Three', 'Sun 15 November: Two'])
  assert.deepEqual(await noted('range=30d&interval=week'), ['9 – 15 Nov: One · Three · Two'])
  assert.deepEqual(await noted('range=12m&interval=month'), ['November 2026: One · Three · Two'])
  assert.deepEqual(await noted('range=custom&start=2026-11-14&end=2026-11-14'), ['14 Nov, 00:00 to 01:00: One · Three'])
  assert.deepEqual(await noted('range=last_month'), [])
  // The latest first.
  assert.deepEqual(listIn(await viewer.get(dashboard)), ['15 Nov Two', '14 Nov Three', '14 Nov One'])
})

test('a note is changed and removed, and nothing else of the site is', async (t) => {
  const { console, site, postgres, dashboard, page, add, stored } = await openNotes(t)
  const owner = await console.signedIn('owner')
  const { id } = await add('2026-11-14', 'Launch')
  await add('2026-11-13', 'Other')
  const form = linkIn(await owner.get(`${dashboard}?range=7d`), 'Change')
  assert.equal(
    form,
    `${page}/change?${new URLSearchParams({ note: (await notesOf(postgres, site.id))[0]?.id ?? '', back: 'range=7d' })}`,
  )
  const change = { note: id, day: '2026-11-12', text: 'Launched', back: 'range=7d' }
  const changed = await owner.post(form, `${page}/change`, change)
  assert.deepEqual([changed.status, changed.headers.get('location')], [303, `${dashboard}?range=7d`])
  assert.deepEqual(await stored(), [
    ['2026-11-13', 'Other', null],
    ['2026-11-12', 'Launched', null],
  ])
  // As it is: no entry in the log.
  assert.equal((await owner.post(form, `${page}/change`, change)).status, 303)
  const removed = await owner.post(page, `${page}/remove`, { note: id })
  assert.deepEqual([removed.status, removed.headers.get('location')], [303, `${page}?done=removed`])
  assert.deepEqual(await stored(), [['2026-11-13', 'Other', null]])
  assert.equal((await owner.post(page, `${page}/remove`, { note: id })).status, 404)
  assert.deepEqual(
    (await entriesOf(console, console.domain)).map(([, action, details]) => [action, details]).slice(2),
    [
      ['note.changed', '2026-11-14: Launch → 2026-11-12: Launched'],
      ['note.deleted', '2026-11-12: Launched'],
    ],
  )
})

test('a mistake shows the form again, and stores nothing', async (t) => {
  const { console, page, stored } = await openNotes(t)
  const owner = await console.signedIn('owner')
  for (const [fields, said] of [
    [{ day: '2026-11-14', text: ' ' }, 'The note is missing.'],
    [{ day: '2026-11-14', text: 'x'.repeat(201) }, 'The note is too long: it may have 200 characters.'],
    [{ day: '2026-11-14', text: 'a\nb' }, 'The note must be plain text in one line.'],
    [{ day: '', text: 'Typed' }, 'The day of the note is missing.'],
    [{ day: '2026-02-30', text: 'Typed' }, 'There is no such day.'],
    [{ day: '1969-12-31', text: 'Typed' }, 'There is no such day.'],
  ] as const) {
    const answer = await owner.post(`${page}/new`, page, { ...fields, back: 'range=7d' })
    assert.equal(answer.status, 422)
    assert.ok(textOf(mainOf(answer)).includes(said), said)
    assert.match(answer.text, /name="back" value="range=7d"/)
  }
  assert.deepEqual(await stored(), [])
})

test('a site has at most 500 notes of people, also when two are added at once, and the latest 100 of Footfall', async (t) => {
  const { console, site, postgres, add, stored } = await openNotes(t)
  await postgres`
    INSERT INTO notes (id, site_id, day, text, created_by)
    SELECT 'note_' || translate(lpad(nth::text, 16, 'a'), '0189', 'wxyz'), ${site.id}, '2026-11-01', 'Note ' || nth, 'a' FROM generate_series(1, 499) AS nth`
  const added = await Promise.allSettled([add('2026-11-14', 'A'), add('2026-11-14', 'B')])
  assert.deepEqual(added.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  await assert.rejects(add('2026-11-14', 'C'), { message: 'A site has at most 500 notes.' })
  for (let nth = 0; nth < 101; nth++) {
    const own = { day: '2026-11-13', text: `Import ${nth}`, cause: 'import' } as const
    await inTransaction(postgres, (transaction) => noteChange(transaction, actor, site, own))
  }
  const own = (await stored()).filter(([, , cause]) => cause === 'import').map(([, text]) => text)
  assert.deepEqual([own.length, own.includes('Import 0'), own.includes('Import 100')], [100, false, true])
  const owner = await console.signedIn('owner')
  assert.equal(listIn(await owner.get(`/sites/${site.domain}?range=7d`)).length, 101)
})

test('Footfall notes a change of the time zone and of the excluded countries, and no form that changes nothing', async (t) => {
  const { console, dashboard, stored } = await openNotes(t)
  const owner = await console.signedIn('owner')
  const settings = `${dashboard}/settings`
  // In Kiritimati it is the 16th already.
  await owner.post(settings, `${settings}/time-zone`, { zone: 'Pacific/Kiritimati' })
  await owner.post(settings, `${settings}/time-zone`, { zone: 'Pacific/Kiritimati' })
  const exclusions = `${settings}/exclusions`
  await owner.post(exclusions, exclusions, [
    ['country', 'FR'],
    ['country', 'DE'],
  ])
  await owner.post(exclusions, exclusions, [])
  const all = [
    ['2026-11-16', 'Time zone: UTC → Pacific/Kiritimati', 'time_zone'],
    ['2026-11-16', 'Excluded countries: France and Germany', 'exclusions'],
    ['2026-11-16', 'Excluded countries: none', 'exclusions'],
  ]
  assert.deepEqual((await stored()).toReversed(), all)
  assert.deepEqual(
    listIn(await owner.get(dashboard)).toReversed(),
    all.map(([, text]) => `16 Nov ${text}`),
  )
})

test('a shared link shows notes only if its owner chose so, also at a new address', async (t) => {
  const { console, site, postgres, page, add } = await openNotes(t)
  await add('2026-11-14', 'Lost the contract')
  const nonce = () => randomBytes(16).toString('base64url')
  const share = (showsNotes?: boolean) =>
    addSharedLink(postgres, keySecrets, actor, site, {
      name: 'A link',
      expiresAt: null,
      passwordHash: null,
      isEmbeddable: false,
      filters: [],
      nonce: nonce(),
      ...(showsNotes !== undefined && { showsNotes }),
    })
  const opened = async (token: string | undefined) => console.stranger().get(`/share/${token}?range=7d`)
  const usual = await opened(await share())
  assert.deepEqual([listIn(usual), flagsIn(usual), /Lost the contract/.test(usual.text)], [[], 0, false])
  const withNotes = await opened(await share(true))
  assert.deepEqual(listIn(withNotes), ['14 Nov Lost the contract'])
  assert.doesNotMatch(withNotes.text, /settings\/notes/)

  const links = await sharedLinksOf(postgres, site.id, Date.parse(now))
  for (const link of links) {
    const again = await renewSharedLink(postgres, keySecrets, actor, site, {
      id: link.id,
      nonce: nonce(),
      now: Date.parse(now),
    })
    assert.equal(listIn(await opened(again)).length, link.showsNotes ? 1 : 0)
  }
  const owner = await console.signedIn('owner')
  const form = page.replace('/notes', '/links')
  const blank = (await owner.get(`${form}/new`)).text
  assert.match(blank, /<input type="checkbox" name="notes" value="yes">/)
  const [, ofForm = ''] = /name="nonce" value="([^"]*)"/.exec(blank) ?? []
  const fields = { name: 'From the form', expiry: '30', filters: '', notes: 'yes', nonce: ofForm }
  const created = await owner.post(`${form}/new`, form, fields)
  const [, token] = /\/share\/([\w-]+)</.exec(created.text) ?? []
  assert.deepEqual(listIn(await opened(token)), ['14 Nov Lost the contract'])
  assert.match(textOf((await owner.get(form)).text), /everything\s*with notes/)
})

test('nobody changes a note of another site', async (t) => {
  const { console, site, postgres, add, stored } = await openNotes(t)
  const note = await add('2026-11-14', 'Ours')
  const other = await openNotes(t)
  const entered = { day: '2026-11-14', text: 'Theirs' }
  await assert.rejects(changeNote(postgres, actor, { ...site, id: other.site.id }, note, entered))
  await assert.rejects(removeNote(postgres, actor, { ...site, id: other.site.id }, note))
  const stranger = await other.console.signedIn('owner')
  const answer = await stranger.post(`${other.page}/new`, `${other.page}/remove`, { note: note.id })
  assert.equal(answer.status, 404)
  assert.deepEqual(await stored(), [['2026-11-14', 'Ours', null]])
  assert.equal((await (await console.signedIn('owner')).get(`/sites/${site.domain}/settings/notes`)).status, 200)
})
