import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { deleteOldSalts } from '../../src/enrichment/salts.ts'
import { FileFaults } from '../../src/importing/checking.ts'
import type { Format } from '../../src/importing/formats/format.ts'
import { formats } from '../../src/importing/formats/formats.ts'
import { type ImportContext, importFiles } from '../../src/importing/job.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { addMember, type Role } from '../../src/users/members.ts'
import { createUser } from '../../src/users/users.ts'
import { startApiProcess } from '../support/api-process.ts'
import { inherited } from '../support/inherited.ts'
import { type Installation, install, runFootfall } from '../support/installation.ts'
import { linkIn, type Mail, mailsTo } from '../support/mails.ts'

let installation: Installation
let folder: string
before(async () => {
  installation = await install()
  folder = mkdtempSync(join(tmpdir(), 'footfall-import-'))
})
after(async () => {
  rmSync(folder, { recursive: true })
  await installation.remove()
})

function fileOf(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** Of an import that leaves out nothing. */
const whole = { id: '', leftOut: {}, broken: [], tooOld: 0, imported: 'whole' }

const newSite = (domain: string, zone = 'UTC') =>
  installation.json('site', 'create', domain, '--timezone', zone) as Promise<{ id: string }>

/** The events of a site in ClickHouse, in order of time. */
async function rowsOf<Row>(siteId: string, columns: ReturnType<typeof sql>): Promise<Row[]> {
  const clickhouse = openClickHouse(installation.addresses.clickhouse)
  try {
    return await clickhouse.rows<Row>(
      sql`SELECT ${columns} FROM events WHERE site_id = ${text(siteId)} ORDER BY time, event_id`,
    )
  } finally {
    await clickhouse.close()
  }
}

test('CSV with quotes and line breaks becomes events by the rules of live traffic', async () => {
  const { id } = await newSite('csv.example')
  const path = fileOf(
    'rules.csv',
    [
      '\uFEFFtime,name,url,title,referrer,visitor,country,device,utm_source',
      '2025-03-01T10:00:00Z,,https://csv.example/a?x=1#y,"Say ""hi"", all",https://www.google.com/,v1,DE,mobile,',
      '2025-03-01T10:30:00Z,Sign up,https://csv.example/a,,https://t.co/x,v1,de,Mobile,Ignored',
      '2025-03-01 11:00:00.001+00:00,,https://shop.csv.example/b,"two\nlines",https://t.co/x,v1,DE,Mobile,',
      '2025-03-01T11:00:01Z,,https://csv.example/c,,,v2,,,News',
      '',
    ].join('\r\n'),
  )
  const outcome = await installation.json('import', 'csv.example', path)
  assert.deepEqual({ ...outcome, id: '' }, { ...whole, events: 4, days: 1 })
  const rows = await rowsOf<Record<string, string>>(
    id,
    sql`name, hostname, pathname, referrer, channel, utm_source, country, device, toString(day) AS day`,
  )
  const first = { referrer: 'google.com', channel: 'Organic Search', utm_source: '', country: 'DE', device: 'Mobile' }
  const day = '2025-03-01'
  assert.deepEqual(rows, [
    { name: 'pageview', hostname: 'csv.example', pathname: '/a', ...first, day },
    // Exactly 1,800 s later: the same session with its origin.
    { name: 'Sign up', hostname: 'csv.example', pathname: '/a', ...first, day },
    // 1,800.001 s later: a new session.
    {
      name: 'pageview',
      hostname: 'shop.csv.example',
      pathname: '/b',
      ...first,
      referrer: 't.co',
      channel: 'Organic Social',
      day,
    },
    {
      name: 'pageview',
      hostname: 'csv.example',
      pathname: '/c',
      referrer: '',
      channel: 'Referral',
      utm_source: 'News',
      country: 'ZZ',
      device: 'Unknown',
      day,
    },
  ])
  const ids = await rowsOf<{ visitor: string; session: string }>(
    id,
    sql`toString(visitor_id) AS visitor, toString(session_id) AS session`,
  )
  assert.equal(new Set(ids.map(({ visitor }) => visitor)).size, 2)
  assert.equal(ids[0]?.session, ids[1]?.session)
  assert.equal(new Set(ids.map(({ session }) => session)).size, 3)
})

test('JSON Lines: midnight in the zone ends sessions and visitor ids, bots are dropped, addresses give the country', async () => {
  const { id } = await newSite('json.example', 'America/New_York')
  const agent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1'
  const hit = { url: 'https://json.example/', ip: '193.0.6.139', user_agent: agent, title: null }
  const path = fileOf(
    'midnight.jsonl',
    [
      { ...hit, time: '2025-07-02T03:59:59Z' }, // 23:59:59 there
      { ...hit, time: '2025-07-02T04:00:01Z' }, // 00:00:01
      { ...hit, time: '2025-07-02T04:00:02Z', user_agent: 'Googlebot/2.1' },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  )
  const outcome = await installation.json('import', id, path)
  assert.deepEqual({ ...outcome, id: '' }, { ...whole, events: 2, leftOut: { bots: 1 }, days: 2 })
  const rows = await rowsOf<{ day: string; visitor: string; session: string; country: string; device: string }>(
    id,
    sql`toString(day) AS day, toString(visitor_id) AS visitor, toString(session_id) AS session, country, device`,
  )
  assert.deepEqual(
    rows.map(({ day, country, device }) => [day, country, device]),
    [
      ['2025-07-01', 'NL', 'Mobile'],
      ['2025-07-02', 'NL', 'Mobile'],
    ],
  )
  assert.notEqual(rows[0]?.visitor, rows[1]?.visitor)
  assert.notEqual(rows[0]?.session, rows[1]?.session)
})

test('a file has every field of an event, and families that it names tell visitors apart', async () => {
  const { id } = await newSite('visits.example')
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const hit = { url: 'https://visits.example/?utm_content=url', visitor: 'v', user_agent: agent }
  const path = fileOf(
    'visits.jsonl',
    [
      { ...hit, time: '2025-03-01T10:00:00Z', utm_medium: 'cpc', utm_campaign: 'Spring', utm_term: 'shoes' },
      { ...hit, time: '2025-03-01T10:00:01Z', name: 'Buy', props: { plan: 'pro' }, revenue: '5', currency: 'jpy' },
      { ...hit, time: '2025-03-01T10:00:02Z', browser: 'Konqueror', props: '{"a":"jane@example.com"}' },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  )
  const { id: importId } = (await installation.json('import', 'visits.example', path)) as { id: string }
  const rows = await rowsOf<Record<string, unknown>>(
    id,
    sql`utm_medium, utm_campaign, utm_content, utm_term, browser, os, props, revenue, currency,
      toString(import_id) AS import, toString(visitor_id) AS visitor`,
  )
  const hex = importId.replaceAll('-', '')
  const both = BigInt(`0x${hex.slice(0, 16)}`) ^ BigInt(`0x${hex.slice(16)}`)
  const session = { utm_medium: 'cpc', utm_campaign: 'Spring', utm_content: 'url', utm_term: 'shoes' }
  const common = { os: 'Linux', import: `${both}` }
  const visitors = rows.map(({ visitor }) => visitor)
  assert.deepEqual(
    rows.map(({ visitor: _, ...row }) => row),
    [
      { ...session, ...common, browser: 'Firefox', props: {}, revenue: 0, currency: '' },
      { ...session, ...common, browser: 'Firefox', props: { plan: 'pro' }, revenue: 5, currency: 'JPY' },
      // Another browser, so another visitor with a session of its own.
      {
        ...{ utm_medium: '', utm_campaign: '', utm_content: 'url', utm_term: '' },
        ...common,
        ...{ browser: 'Konqueror', props: { a: '(removed)' }, revenue: 0, currency: '' },
      },
    ],
  )
  assert.equal(visitors[0], visitors[1])
  assert.notEqual(visitors[1], visitors[2])
})

test('a file with any fault is refused as a whole, and every fault is reported with its line', async () => {
  const { id } = await newSite('faults.example')
  const header = 'time,url,visitor,country,device\n'
  const good = '2025-03-01T10:00:00Z,https://faults.example/,v1,,\n'
  const refused: [string, string | Buffer, RegExp][] = [
    [
      'time.csv',
      `${header}${good}2025-03-01 10:00,https://faults.example/,v1,,\n`,
      /Line 3: has no time with an offset/,
    ],
    ['future.csv', `${header}${good}2999-03-01T10:00:00Z,https://faults.example/,v1,,\n`, /Line 3: is in the future/],
    ['url.csv', `${header}${good}2025-03-01T10:00:00Z,faults.example,v1,,\n`, /Line 3: has no url/],
    ['visitor.csv', `${header}${good}2025-03-01T10:00:00Z,https://faults.example/,,,\n`, /Line 3: has neither/],
    ['country.csv', `${header}${good}2025-03-01T10:00:00Z,https://faults.example/,v1,XX,\n`, /Line 3: has a country/],
    [
      'device.csv',
      `${header}${good}2025-03-01T10:00:00Z,https://faults.example/,v1,,Toaster\n`,
      /Line 3: has a device/,
    ],
    [
      'cells.csv',
      `${header}${good}2025-03-01T10:00:00Z,https://faults.example/\n`,
      /Line 3: has 2 cells, but the header has 5/,
    ],
    [
      'quote.csv',
      `${header}${good}"2025-03-01T10:00:00Z,https://faults.example/,v1,,\n`,
      /Line 3: a quote is not closed/,
    ],
    ['header.csv', `time,url,visitor,url\n`, /Line 1: the header has the field url twice/],
    [
      'column.csv',
      `time,url,visitor,colour\n2025-03-01T10:00:00Z,https://faults.example/,v1,red\n`,
      /\n {2}Line 1: the header has an unknown field, colour$/, // a fault of the header line, reported once
    ],
    ['empty.csv', header, /It contains no event/],
    ['bytes.csv', Buffer.concat([Buffer.from(header + good), Buffer.from([0xff, 0xfe])]), /Line 3: is not UTF-8/],
    ['json.jsonl', '{"time":\n', /Line 1: /],
    ['list.jsonl', '[1]\n', /Line 1: is not an object/],
    [
      'props.jsonl',
      `${JSON.stringify({ time: '2025-03-01T10:00:00Z', url: 'https://a.example/', visitor: 'v', props: { 'a b': 'c' } })}\n`,
      /Line 1: has properties that cannot be recorded: props.a b/,
    ],
    [
      'revenue.csv',
      'time,url,visitor,revenue\n2025-03-01T10:00:00Z,https://a.example/,v,19.90\n',
      /Line 2: has a revenue that is not an amount such as 19.90 with a currency/,
    ],
    [
      'browser.csv',
      `time,url,visitor,browser\n2025-03-01T10:00:00Z,https://a.example/,v,${'x'.repeat(61)}\n`,
      /Line 2: has a browser of more than 60 characters/,
    ],
    ['number.jsonl', '{"time":1}\n', /Line 1: has a time that is not a text/],
  ]
  // Checked before any store is queried.
  const context = {
    site: { timeZone: 'UTC' },
    countries: { countryOf: () => 'ZZ' },
    now: Date.now(),
    onProgress() {},
  } as unknown
  for (const [name, content, message] of refused) {
    const format = formats.find((one) => name.endsWith(`.${one.name}`)) as Format
    const imported = importFiles([{ path: fileOf(name, content), name, format }], context as ImportContext)
    await assert.rejects(imported, (error) => error instanceof FileFaults && message.test(error.message), name)
  }
  const twice = fileOf('twice.csv', `${header}x,https://faults.example/,v1,,\n${good}y,https://faults.example/,v1,,\n`)
  const { code, stderr } = await installation.footfall('import', 'faults.example', twice)
  assert.equal(code, 1)
  assert.match(stderr, /Line 2: has no time .*\n.*Line 4: has no time .*\n.*Nothing was written/)
  assert.match(stderr, /^Checking twice\.csv: 100 % {2}[\d,]+ of [\d,]+ bytes/m)
  const unknown = await installation.footfall('import', 'faults.example', fileOf('visits.txt', good))
  assert.match(unknown.stderr, /Add --from, with one of umami/)
  assert.deepEqual(await rowsOf(id, sql`name`), [])
})

test('events imported into a rolled-up day are in the responses at once', async (t) => {
  const { id } = await newSite('rolled-up.example')
  const { key } = await installation.json('key', 'create', 'rolled-up.example')
  const line = (path: string) => `time,url,visitor\n2025-03-01T10:00:00Z,https://rolled-up.example${path},v1\n`
  await installation.json('import', id, fileOf('before.csv', line('/before')))
  await installation.json('rollup', 'run', '--site', 'rolled-up.example')
  const api = await startApiProcess(installation.addresses)
  t.after(() => api.stop())
  const pages = async () => {
    const address = `${api.url}/api/v1/stats/pages?range=custom&start=2025-02-01&end=2025-03-31`
    const answer = await fetch(address, { headers: { Authorization: `Bearer ${key}` } })
    const { data } = (await answer.json()) as { data: { pathname: string }[] }
    return data.map(({ pathname }) => pathname)
  }
  assert.deepEqual(await pages(), ['/before'])
  await installation.json('import', id, fileOf('later.csv', line('/later')))
  assert.deepEqual(await pages(), ['/before', '/later'])
})

test('owners get one mail when an import is finished, with its transaction', async (t) => {
  const { id } = await newSite('mailed.example')
  const postgres = openPostgres(installation.addresses.postgres, 1)
  t.after(() => postgres.end())
  const [account] = await installation.json('account', 'list')
  const addPerson = async (email: string, role: Role) =>
    addMember(postgres, account.id, await createUser(postgres, email, 'none'), role)
  await addPerson('owner@example.com', 'owner')
  await addPerson('viewer@example.com', 'viewer')
  const lines = ['1', '2', '2'].map((day) => `2025-03-0${day}T10:00:00Z,https://mailed.example/,v1\n`)
  const path = fileOf('mailed.csv', `time,url,visitor\n${lines.join('')}`)
  const mail = {
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'stats@example.com',
    PUBLIC_URL: 'https://stats.example.com',
  }
  const run = () => runFootfall(['import', id, path], { ...installation.environment, ...mail })
  await postgres`ALTER TABLE outbox ADD CONSTRAINT refused CHECK (kind <> 'import finished') NOT VALID`
  assert.equal((await run()).code, 1)
  const [unfinished] = await postgres`SELECT finished_at FROM imports WHERE site_id = ${id}`
  assert.deepEqual(unfinished, { finished_at: null })
  await postgres`ALTER TABLE outbox DROP CONSTRAINT refused`
  for (let index = 0; index < 2; index++) assert.equal((await run()).code, 0)
  const [letter, ...more] = (await mailsTo(postgres, 'owner@example.com')) as [Mail]
  assert.deepEqual([letter.kind, letter.accountId, more], ['import finished', account.id, []])
  assert.equal(letter.subject, 'The import into mailed.example is finished')
  assert.match(letter.text, /3 events on 2 days were imported into mailed\.example/)
  assert.equal(linkIn(letter), 'https://stats.example.com/sites/mailed.example')
  assert.deepEqual(await mailsTo(postgres, 'viewer@example.com'), [])
  // Without a mail server, nothing is queued.
  const other = fileOf('unmailed.csv', `time,url,visitor\n${lines[0]}`)
  await installation.json('import', id, other)
  assert.equal((await mailsTo(postgres, 'owner@example.com')).length, 1)
})

test('an import killed repeatedly ends with every event once; then it does nothing more, and its salt is deleted', async () => {
  const { id } = await newSite('killed.example')
  const events = 60_000
  const start = Date.UTC(2025, 0, 15)
  const step = (44 * 86_400_000) / events
  const lines = Array.from({ length: events }, (_, index) => {
    const time = new Date(start + Math.floor(index * step)).toISOString()
    return `${time},https://killed.example/p${index % 7},v${index % 500}\n`
  })
  const path = fileOf('large.csv', `time,url,visitor\n${lines.join('')}`)

  const command = new URL('../../src/cli/main.ts', import.meta.url).pathname
  const postgres = openPostgres(installation.addresses.postgres, 1)
  let kills = 0
  try {
    for (const killAfter of [1, 2, 4]) {
      const child = spawn(process.execPath, [command, 'import', 'killed.example', path], {
        env: { ...inherited, ...installation.environment },
        stdio: 'ignore',
      })
      const ended = once(child, 'exit')
      for (;;) {
        const [row] = await postgres<{ batches_done: number }[]>`SELECT batches_done FROM imports WHERE site_id = ${id}`
        if ((row?.batches_done ?? 0) >= killAfter || child.exitCode !== null) break
        await pause(2)
      }
      if (child.exitCode === null) kills++
      child.kill('SIGKILL')
      await ended
    }
    assert.ok(kills >= 2, `killed ${kills} times`)
    // As if the import had ended between ClickHouse's response and the record of it, with a ClickHouse that remembers no batch.
    await forgetBatches()
    const noted = await postgres`
      UPDATE imports SET batches_done = batches_done - 1 WHERE site_id = ${id} AND finished_at IS NULL`
    assert.equal(noted.count, 1)
    assert.equal((await installation.json('import', 'killed.example', path)).imported, 'rest')

    const [counts] = await countsOf(id)
    // 44 days, from 15 January to 27 February. A visitor comes every 500 events, so each of the 500 is there on every day.
    assert.deepEqual(counts, { events, ids: events, visitors: 44 * 500, days: 44 })

    const again = await installation.json('import', 'killed.example', path)
    assert.equal(again.imported, 'was')
    assert.deepEqual(await countsOf(id), [counts])
    const [job] = await postgres`SELECT salt, finished_at IS NOT NULL AS finished FROM imports WHERE site_id = ${id}`
    assert.deepEqual({ ...job }, { salt: null, finished: true })
  } finally {
    await postgres.end()
  }
})

test('an import unfinished after 30 days has no salt any more, and is refused rather than started over', async () => {
  const { id } = await newSite('abandoned.example')
  const path = fileOf('abandoned.csv', 'time,url,visitor\n2025-03-01T10:00:00Z,https://abandoned.example/,v1\n')
  await installation.json('import', 'abandoned.example', path)
  const postgres = openPostgres(installation.addresses.postgres, 1)
  try {
    // As if the import had been killed at the last moment.
    await postgres`
      UPDATE imports SET salt = ${Buffer.alloc(32, 1)}, finished_at = NULL, started_at = '2026-10-01T12:00:00Z'
      WHERE site_id = ${id}`
    const hasSalt = async () =>
      (await postgres<[{ has: boolean }]>`SELECT salt IS NOT NULL AS has FROM imports WHERE site_id = ${id}`)[0].has
    const deleteAt = (time: number) => deleteOldSalts(postgres, time, async () => time)
    await deleteAt(Date.parse('2026-10-31T11:59:59Z'))
    assert.equal(await hasSalt(), true)
    await deleteAt(Date.parse('2026-10-31T12:00:00Z'))
    assert.equal(await hasSalt(), false)
    await assert.rejects(installation.json('import', 'abandoned.example', path), /started more than 30 days ago/)
    assert.equal((await rowsOf(id, sql`event_id`)).length, 1)
  } finally {
    await postgres.end()
  }
})

test('a file that a restored PostgreSQL does not know is not imported twice, and an unfinished import of a backup says so', async () => {
  const { id } = await newSite('forgotten.example')
  // 25,000 events: three batches, of which the restored PostgreSQL knows one, then none.
  const lines = Array.from(
    { length: 25_000 },
    (_, second) =>
      `${new Date(Date.UTC(2025, 2, 1) + second * 1_000).toISOString()},https://forgotten.example/,v${second % 7}`,
  )
  const path = fileOf('forgotten.csv', `time,url,visitor\n${lines.join('\n')}\n`)
  await forgetBatches()
  const postgres = openPostgres(installation.addresses.postgres, 1)
  try {
    await installation.json('import', 'forgotten.example', path)
    await postgres`
      UPDATE imports SET salt = ${Buffer.alloc(32, 1)}, finished_at = NULL, batches_done = 1 WHERE site_id = ${id}`
    assert.equal((await installation.json('import', 'forgotten.example', path)).imported, 'rest')
    await postgres`DELETE FROM imports WHERE site_id = ${id}`
    assert.equal((await installation.json('import', 'forgotten.example', path)).imported, 'whole')
    assert.equal((await rowsOf(id, sql`event_id`)).length, 25_000)
    await postgres`UPDATE imports SET finished_at = NULL WHERE site_id = ${id}`
    await assert.rejects(
      installation.json('import', 'forgotten.example', path),
      /was not finished when the backup was made/,
    )
  } finally {
    await postgres.end()
  }
})

/** Disables ClickHouse's own deduplication, so that only looking first prevents duplicates. */
async function forgetBatches(): Promise<void> {
  const clickhouse = openClickHouse(installation.addresses.clickhouse)
  await clickhouse.command('ALTER TABLE events MODIFY SETTING non_replicated_deduplication_window = 0')
  await clickhouse.close()
}

async function countsOf(siteId: string): Promise<object[]> {
  const clickhouse = openClickHouse(installation.addresses.clickhouse)
  try {
    return await clickhouse.rows<object>(sql`
      SELECT count() AS events, uniqExact(event_id) AS ids, uniqExact(visitor_id) AS visitors, uniqExact(day) AS days
      FROM events WHERE site_id = ${text(siteId)}`)
  } finally {
    await clickhouse.close()
  }
}
