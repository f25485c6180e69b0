// Imports in the settings of a site: files are sent, previewed, imported and taken back (decision D-249).
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync, readlinkSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { addUpload } from '../../src/importing/uploads.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { notesOf } from '../../src/users/notes.ts'
import { zipOf } from '../importing/zip.ts'
import { eventOf, pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { type ConsoleOptions, entriesOf, mainOf, openConsole, type Page, type Visitor } from './console.ts'
import { textOf } from './dashboard-page.ts'

const umami = (...rows: string[]) => ['session_id,url_path,event_type,created_at', ...rows, ''].join('\n')
const file = umami(
  'one,/,1,2025-03-01 10:00:00',
  'one,/pricing,1,2025-03-01 10:01:00',
  'two,/,1,2025-03-02 10:00:00',
  'two,/,4,2025-03-02 10:00:01',
  ...Array.from({ length: 7 }, (_, nth) => `three,/${nth},1,2025-03-05 10:00:0${nth}`),
  'three,/,1,yesterday',
)

interface More {
  token?: string
  /** After the files. */
  isTokenLast?: boolean
  headers?: Record<string, string>
}

/** What a browser sends. */
async function send(
  visitor: Visitor,
  {
    url,
    page,
    files,
    token,
    isTokenLast = false,
    headers = {},
  }: { url: string; page: string; files: [string, string | Buffer][] } & More,
): Promise<Page> {
  const own = /name="token" value="([^"]*)"/.exec((await visitor.get(page)).text)?.[1] ?? ''
  const form = new FormData()
  if (!isTokenLast) form.set('token', token ?? own)
  form.set('kind', '')
  for (const [name, content] of files) form.append('files', new Blob([Uint8Array.from(Buffer.from(content))]), name)
  if (isTokenLast) form.set('token', own)
  const cookie = Array.from(visitor.cookies, ([name, value]) => `${name}=${value}`).join('; ')
  const answer = await fetch(url + page, {
    method: 'POST',
    body: form,
    redirect: 'manual',
    headers: { Cookie: cookie, Origin: url, ...headers },
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

async function openImports(t: TestContext, options: ConsoleOptions = {}) {
  const console = await openConsole(t, options)
  const { url, domain, stores, siteId } = console
  const page = `/sites/${domain}/settings/imports`
  const owner = await console.signedIn('owner')
  const shown = async () => textOf(mainOf(await owner.get(page)))
  return {
    console,
    page,
    owner,
    shown,
    send: (files: [string, string | Buffer][], visitor: Visitor = owner, more: More = {}) =>
      send(visitor, { url, page, files, ...more }),
    /** Waits until the page says so. */
    until: (what: RegExp) =>
      eventually(async () => {
        const found = await shown()
        assert.match(found, what)
        return found
      }, 60_000),
    /** The form of the page that has this button, sent as a browser does. */
    async press(action: string, fields: Record<string, string> = {}): Promise<Page> {
      const { text: html } = await owner.get(page)
      const form = new RegExp(`<form[^>]*action="${page}/${action}".*?</form>`, 's').exec(html)?.[0] ?? ''
      const hidden = [...form.matchAll(/name="(upload|import)" value="([^"]*)"/g)].map(([, name, value]) => [
        name,
        value,
      ])
      return owner.post(page, `${page}/${action}`, { ...Object.fromEntries(hidden), ...fields })
    },
    events: async (): Promise<number> => {
      const [row] = await stores.clickhouse.rows<{ events: string }>(
        sql`SELECT toString(count()) AS events FROM events WHERE site_id = ${text(siteId)}`,
      )
      return Number(row?.events)
    },
  }
}

const openFiles = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('footfall-import-')
    } catch {
      return false
    }
  }).length

test('an owner sends files, sees what they hold, imports them and takes the import back', async (t) => {
  const { console, page, owner, send, until, press, events, shown } = await openImports(t)
  assert.match(await shown(), /Up to 500 MB at once/)
  const sent = await send([['website_event.csv', file]])
  assert.deepEqual([sent.status, sent.headers.get('location')], [303, page])
  const preview = await until(/to import/)
  assert.match(preview, /10 events to import/)
  assert.match(preview, /1 Mar 2025 to 5 Mar 2025.*from website_event\.csv/s)
  assert.match(preview, /lines that cannot be read\s*1/)
  assert.match(preview, /clicks on short links, pixels and measurements of speed\s*1/)
  assert.match(preview, /Line 13: has no time/)
  assert.equal(await events(), 0)

  assert.equal((await press('check', { until: '2025-03-02' })).status, 303)
  const shorter = await until(/3 events to import/)
  assert.match(shorter, /days after 2025-03-02\s*7/)
  assert.equal((await press('check', { until: '2025-02-31' })).status, 422)

  assert.equal((await press('start')).status, 303)
  await until(/Imported 3 events on 2 days from website_event\.csv/)
  assert.equal(await events(), 3)
  assert.equal(openFiles(), 0)
  const log = await entriesOf(console, console.domain)
  assert.deepEqual(log, [[owner.email, 'import.finished', '3 events, 2025-03-01 to 2025-03-02', '127.0.0.0']])
  const notes = async () => (await notesOf(console.stores.postgres, console.siteId)).map(({ text }) => text)
  assert.deepEqual(await notes(), ['3 imported events, until 2025-03-02'])

  // The same file again is the same import.
  await send([['again.csv', file]])
  await until(/10 events to import/)
  await press('check', { until: '2025-03-02' })
  await until(/3 events to import/)
  await press('start')
  await until(/imported before, so nothing was done/)
  assert.equal(await events(), 3)

  assert.equal((await press('undo')).status, 303)
  assert.doesNotMatch(await until(/Taken back/), /nothing was done/)
  assert.equal(await events(), 0)
  assert.deepEqual(await notes(), [])
  assert.equal((await entriesOf(console, console.domain)).at(-1)?.[1], 'import.undone')
  assert.equal((await press('undo', { import: randomUUID() })).status, 422)
})

test('files of another product end the day before the tracker began, and files written for Footfall do not', async (t) => {
  const { console, send, until, press } = await openImports(t)
  const { stores, siteId } = console
  const hit = eventOf(pageview({ at: '2025-03-05T12:00:00Z', visitor: 'own' }), siteId, 'UTC')
  await recordBatch(stores.clickhouse, { id: randomUUID(), events: [hit] })
  await send([['website_event.csv', file]])
  assert.match(await until(/to import/), /3 events to import.*days after 2025-03-04\s*7/s)
  assert.equal((await press('discard')).status, 303)
  await send([['visits.csv', `time,url,visitor\n2025-03-06T10:00:00Z,https://${console.domain}/,v\n`]])
  assert.match(await until(/to import/), /1 event to import.*All days of the files are imported/s)
})

test('what cannot be imported is refused with its reason, and leaves no file', async (t) => {
  const { console, send, until, press, shown, owner, page } = await openImports(t, { uploadMaxMegabytes: 1 })
  await send([['strange.bin', 'what is this?']])
  await until(/It is unknown what strange\.bin is/)
  await send([['export.zip', zipOf({ 'imported_visitors.csv': 'date,visitors\n' })]])
  await until(/export\.zip has daily sums, which only the command imports/)
  await send([['visits.csv', 'time,url,visitor,colour\n']])
  await until(/unknown field, colour/)
  assert.equal((await send([])).status, 422)
  const large = await send([['large.csv', 'x'.repeat(1_200_000)]])
  assert.equal(large.status, 413)
  assert.match(large.text, /These files are too large/)
  await eventually(async () => assert.equal(openFiles(), 0))

  // A second upload of the site waits for the first.
  await send([['website_event.csv', file]])
  await until(/10 events to import/)
  assert.doesNotMatch(await shown(), /Send and preview/)
  assert.equal((await send([['other.csv', file]])).status, 422)
  assert.equal(openFiles(), 1)
  const [upload] = await console.stores.postgres<
    { id: string }[]
  >`SELECT id FROM uploads WHERE site_id = ${console.siteId}`
  const foreign = await console.addAccount()
  const stranger = await console.signedIn('owner', foreign.accountId)
  const theirs = `/sites/${foreign.domain}/settings/imports`
  for (const action of ['start', 'check', 'discard'])
    assert.equal((await stranger.post(theirs, `${theirs}/${action}`, { upload: upload?.id as string })).status, 422)
  assert.equal((await press('discard')).status, 303)
  await eventually(async () => assert.equal(openFiles(), 0))
  for (const action of ['start', 'check', 'discard'])
    assert.equal((await owner.post(page, `${page}/${action}`, { upload: randomUUID() })).status, 422)
  assert.deepEqual(await entriesOf(console, console.domain), [])
})

test('only a form of ours, from an owner, is received', async (t) => {
  const { console, send, page, shown } = await openImports(t)
  const viewer = await console.signedIn('viewer')
  const other = await console.signedIn('owner', (await console.addAccount()).accountId)
  const files: [string, string][] = [['website_event.csv', file]]
  assert.equal((await send(files, viewer)).status, 403)
  assert.equal((await send(files, other)).status, 404)
  assert.equal((await send(files, console.stranger())).status, 403)
  for (const more of [
    { token: 'x' },
    { isTokenLast: true },
    { headers: { Origin: 'https://evil.example' } },
    { headers: { 'Sec-Fetch-Site': 'cross-site' } },
  ]) {
    const refused = await send(files, undefined, more)
    assert.equal(refused.status, 403)
    assert.match(refused.text, /no longer valid/)
  }
  assert.equal(openFiles(), 0)
  assert.doesNotMatch(await shown(), /website_event/)
  assert.doesNotMatch(textOf(mainOf(await viewer.get(page))), /Send and preview/)
})

test('files of a process that is gone are uploaded again', async (t) => {
  const { console, page, owner, send, until, shown } = await openImports(t)
  const { stores, siteId } = console
  const gone = { id: randomUUID(), siteId, files: ['gone.csv'], createdBy: owner.email, address: '' }
  assert.equal(await addUpload(stores.postgres, gone), true)
  assert.match(await shown(), /Reading gone\.csv/)
  assert.equal((await send([['website_event.csv', file]])).status, 422)
  await stores.postgres`UPDATE uploads SET seen_at = now() - interval '21 seconds' WHERE id = ${gone.id}`
  assert.match(await shown(), /gone\.csv: not imported.*Upload them again/s)
  assert.equal((await send([['website_event.csv', file]])).status, 303)
  await until(/10 events to import/)
  const state = await owner.get(`${page}/state`)
  assert.match(state.text, /data-done/)
})
