// The PostgreSQL of `npm run try` has one session for all connections; they must not notice.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { freePort } from '../../dev/clickhouse/server.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'footfall-pglite-'))
let database: ChildProcess
let url: string
let postgres: Postgres

before(async () => {
  const port = await freePort()
  const script = new URL('../../dev/postgres/pglite.ts', import.meta.url).pathname
  database = spawn(process.execPath, [script, folder, `${port}`], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(database.stdout as NodeJS.ReadableStream, 'data')
  url = `postgres://postgres@127.0.0.1:${port}/postgres`
  postgres = openPostgres(url)
})

after(async () => {
  await postgres.end({ timeout: 1 })
  const ended = once(database, 'exit')
  database.stdin?.end()
  await ended
  rmSync(folder, { recursive: true })
})

test('statements with parameters of ten connections at once get their own rows', async () => {
  const asked = Array.from({ length: 300 }, (_, at) => at)
  const answers = await Promise.all(
    asked.map(async (at) => {
      const [row] = await postgres<
        { number: number; text: string }[]
      >`SELECT ${at}::int AS number, ${`t${at}`}::text AS text`
      return row
    }),
  )
  assert.deepEqual(
    answers.map((row) => ({ ...row })),
    asked.map((at) => ({ number: at, text: `t${at}` })),
  )
})

test('transactions do not mix, and one whose connection breaks is rolled back', async () => {
  await postgres`CREATE TABLE counted (number int)`
  const work = Array.from({ length: 20 }, (_, at) =>
    postgres.begin(async (transaction) => {
      await transaction`INSERT INTO counted VALUES (${at})`
      if (at % 2 === 1) throw new Error('changed its mind')
    }),
  )
  const others = Array.from({ length: 20 }, () => postgres`SELECT count(*) FROM counted`)
  await Promise.allSettled([...work, ...others])
  const rows = await postgres<{ number: number }[]>`SELECT number FROM counted ORDER BY number`
  assert.deepEqual(
    rows.map(({ number }) => number),
    [0, 2, 4, 6, 8, 10, 12, 14, 16, 18],
  )
  const leaving = openPostgres(url)
  await leaving
    .begin(async (transaction) => {
      await transaction`DELETE FROM counted`
      await leaving.end({ timeout: 0 })
    })
    .catch(() => {})
  const [left] = await postgres<{ left: number }[]>`SELECT count(*)::int AS left FROM counted`
  assert.equal(left?.left, 10)
})
