// Uploads while processes die, connections are slow and the disk is full: nothing is imported twice, and no file stays (decision D-249).
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { addMember } from '../../src/users/members.ts'
import { createSession } from '../../src/users/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import { eventually } from '../support/eventually.ts'
import { type Installation, install } from '../support/installation.ts'
import { launchServe } from '../support/serve-process.ts'

const domain = 'uploads.example'
const page = `/sites/${domain}/settings/imports`

let installation: Installation
let postgres: Postgres
let siteId: string
let cookie: string
let folder: string
before(async () => {
  installation = await install()
  postgres = openPostgres(installation.addresses.postgres, 2)
  const { id, account } = await installation.json('site', 'create', domain)
  siteId = id
  const [site] = await postgres<{ account_id: string }[]>`SELECT account_id FROM sites WHERE id = ${siteId}`
  const userId = await createUser(postgres, 'owner@example.com', 'none')
  await addMember(postgres, account ?? (site?.account_id as string), userId, 'owner')
  cookie = `footfall-session=${await createSession(postgres, userId, { address: '127.0.0.0', browser: 'A test' })}`
  folder = mkdtempSync(join(tmpdir(), 'footfall-uploads-'))
})
after(async () => {
  await postgres.end()
  await installation.remove()
  rmSync(folder, { recursive: true })
})

async function serve(t: { after(undo: () => unknown): void }, settings: Record<string, string> = {}) {
  const served = await launchServe(installation.addresses, { TMPDIR: folder, LOG_LEVEL: 'warn', ...settings })
  t.after(() => served.stop())
  await served.untilReady()
  const { url } = served
  // Without PUBLIC_URL it is known by this name.
  const origin = url.replace('127.0.0.1', 'localhost')
  const get = async (path = page) => (await fetch(url + path, { headers: { Cookie: cookie } })).text()
  const tokenOf = (html: string) => /name="token" value="([^"]*)"/.exec(html)?.[1] ?? ''
  return {
    ...served,
    get,
    async send(content: string) {
      const form = new FormData()
      form.set('token', tokenOf(await get()))
      form.append('files', new Blob([content]), 'website_event.csv')
      const headers = { Cookie: cookie, Origin: origin }
      return (await fetch(url + page, { method: 'POST', body: form, headers, redirect: 'manual' })).status
    },
    async press(action: string) {
      const html = await get()
      const body = new URLSearchParams({
        token: tokenOf(html),
        upload: /name="upload" value="([^"]*)"/.exec(html)?.[1] ?? '',
      })
      const headers = { Cookie: cookie, Origin: origin }
      return (await fetch(`${url}${page}/${action}`, { method: 'POST', body, headers, redirect: 'manual' })).status
    },
    until: (what: RegExp) => eventually(async () => assert.match(await get(), what), 120_000),
    /** The head of the form, a part of the file every so many milliseconds, and the end. Returns the status, or the error. */
    async sendSlowly(parts: number, everyMs: number, withCookie = cookie): Promise<number | string> {
      const part = 'one,/,1,2025-03-01 10:00:00\n'
      const head = `--x\r\nContent-Disposition: form-data; name="token"\r\n\r\n${tokenOf(await get())}\r\n--x\r\nContent-Disposition: form-data; name="files"; filename="slow.csv"\r\n\r\nsession_id,url_path,event_type,created_at\n`
      const end = '\r\n--x--\r\n'
      const length = Buffer.byteLength(head) + parts * part.length + end.length
      const { promise, resolve } = Promise.withResolvers<number | string>()
      const sent = request(
        url + page,
        {
          method: 'POST',
          headers: {
            Cookie: withCookie,
            Origin: origin,
            'Content-Type': 'multipart/form-data; boundary=x',
            'Content-Length': length,
          },
        },
        (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        },
      )
      sent.on('error', (error) => resolve((error as { code?: string }).code ?? error.message))
      sent.write(head)
      for (let nth = 0; nth < parts && !sent.destroyed; nth++) {
        await pause(everyMs)
        sent.write(part)
      }
      sent.end(end)
      return promise
    },
  }
}

async function stored(): Promise<{ events: number; ids: number }> {
  const clickhouse = openClickHouse(installation.addresses.clickhouse)
  const [row] = await clickhouse.rows<{ events: string; ids: string }>(
    sql`SELECT toString(count()) AS events, toString(uniqExact(event_id)) AS ids FROM events WHERE site_id = ${text(siteId)}`,
  )
  await clickhouse.close()
  return { events: Number(row?.events), ids: Number(row?.ids) }
}

test('an import whose process is killed goes on when the files are sent again, and happens once', {
  timeout: 300_000,
}, async (t) => {
  const rows = 60_000
  const lines = Array.from(
    { length: rows },
    (_, nth) => `visitor${nth % 900},/${nth % 40},1,${new Date(Date.UTC(2025, 0, 1) + nth * 60_000).toISOString()}`,
  )
  const file = ['session_id,url_path,event_type,created_at', ...lines, ''].join('\n')
  const first = await serve(t)
  assert.equal(await first.send(file), 303)
  await first.until(/60,000 events to import/)
  assert.deepEqual(readdirSync(folder), [])
  assert.equal(await first.press('start'), 303)
  await eventually(async () => {
    const [job] = await postgres<{ batches_done: number }[]>`SELECT batches_done FROM imports WHERE site_id = ${siteId}`
    assert.ok(job && job.batches_done > 0)
  }, 60_000)
  await first.kill()
  const [job] = await postgres<{ is_finished: boolean }[]>`
    SELECT finished_at IS NOT NULL AS is_finished FROM imports WHERE site_id = ${siteId}`
  assert.equal(job?.is_finished, false)
  assert.ok((await stored()).events < rows)

  const second = await serve(t)
  await second.until(/Upload them again/)
  assert.equal(await second.send(file), 303)
  await second.until(/60,000 events to import/)
  assert.equal(await second.press('start'), 303)
  await second.until(/Imported 60,000 events on 42 days/)
  assert.deepEqual(await stored(), { events: rows, ids: rows })
  assert.deepEqual(readdirSync(folder), [])
  const log = await postgres<{ action: string }[]>`SELECT action FROM audit_log WHERE action LIKE 'import.%'`
  assert.deepEqual(
    log.map(({ action }) => action),
    ['import.finished'],
  )
})

test('a form with files may take longer than any other request, and only from somebody who is signed in', {
  timeout: 120_000,
}, async (t) => {
  const served = await serve(t)
  const began = Date.now()
  const [owner, stranger] = await Promise.all([
    served.sendSlowly(14, 1_000),
    served.sendSlowly(14, 1_000, 'footfall-session=nobody'),
  ])
  assert.ok(Date.now() - began > 14_000)
  assert.equal(owner, 303)
  await served.until(/14 events to import/)
  assert.equal(await served.press('discard'), 303)
  assert.ok(stranger === 403 || stranger === 'ECONNRESET' || stranger === 'EPIPE', `${stranger}`)
})

test('files for which there is no room are refused, and the page says why', async (t) => {
  const small = mkdtempSync(join(tmpdir(), 'footfall-small-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', small], { stdio: 'ignore' })
  } catch {
    rmSync(small, { recursive: true })
    return t.skip('This user may not mount.')
  }
  t.after(() => {
    execFileSync('umount', ['--lazy', small])
    rmSync(small, { recursive: true })
  })
  const served = await serve(t, { TMPDIR: small })
  assert.equal(await served.send('x'), 507)
  assert.deepEqual(readdirSync(small), [])
})
