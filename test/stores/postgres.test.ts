// Connections to PostgreSQL: values arrive unchanged, and every failure rejects a promise.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { connectPostgres, inTransaction, isOutage, openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { runs } from '../support/property-runs.ts'
import { databaseUrl } from '../support/stores.ts'

let postgres: Postgres

before(async () => {
  postgres = openPostgres(databaseUrl, 2)
})
after(() => postgres.end({ timeout: 1 }))

const words = fc.array(fc.string({ unit: 'grapheme' }).filter((word) => !word.includes('\0')))

test('lists of any texts arrive unchanged', async () => {
  const hostile = ['', ' ', 'NULL', 'null', '"', '\\', '{}', 'a,b', "'", '\n', '\\"', '{"a"}', 'ä€😀']
  for (const list of [[], [''], hostile]) {
    const [row] = await postgres<[{ list: string[]; size: number }]>`
      SELECT ${list}::text[] AS list, cardinality(${list}::text[]) AS size`
    assert.deepEqual(row, { list, size: list.length })
  }
  const [{ list }] = await postgres<[{ list: (string | null)[] }]>`SELECT ARRAY['a', NULL, 'NULL'] AS list`
  assert.deepEqual(list, ['a', null, 'NULL'])
  await fc.assert(
    fc.asyncProperty(words, async (given) => {
      const [row] = await postgres<[{ list: string[] }]>`SELECT ${given}::text[] AS list`
      assert.deepEqual(row.list, given)
    }),
    runs(300),
  )
})

test('a new connection sends no queries of its own', async () => {
  const asked: string[] = []
  const one = connectPostgres(databaseUrl, { max: 1, debug: (_connection, text) => void asked.push(text) })
  await one`SELECT 1`
  await one.end()
  assert.deepEqual(asked, ['SELECT 1'])
})

test('a transaction whose connection breaks is rejected, and so is every later query in it', async () => {
  const table = `broken_${process.pid}`
  await postgres.unsafe(`CREATE TABLE ${table} (id int)`)
  try {
    const later: unknown[] = []
    await assert.rejects(
      postgres.begin(async (transaction) => {
        await transaction`INSERT INTO ${transaction(table)} VALUES (1)`
        const [{ pid }] = await transaction<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`
        await postgres`SELECT pg_terminate_backend(${pid}, 5000)`
        for (let time = 0; time < 3; time++) {
          await transaction`INSERT INTO ${transaction(table)} VALUES (2)`.catch((error) => later.push(error))
        }
      }),
      isOutage,
    )
    assert.equal(later.length, 3)
    assert.ok(later.every(isOutage))
    assert.deepEqual([...(await postgres`SELECT id FROM ${postgres(table)}`)], [])
  } finally {
    await postgres.unsafe(`DROP TABLE ${table}`)
  }
})

test('a transaction that continued after a failed statement does not count as committed', async () => {
  await assert.rejects(
    postgres.begin(async (transaction) => {
      await transaction`SELECT 1 / 0`.catch(() => {})
    }),
    /rolled it back/,
  )
})

test('a transaction may have a mode', async () => {
  const mode = await postgres.begin('isolation level repeatable read read only', async (transaction) => {
    const [row] = await transaction<[{ level: string; only: string }]>`
      SELECT current_setting('transaction_isolation') AS level, current_setting('transaction_read_only') AS only`
    return row
  })
  assert.deepEqual(mode, { level: 'repeatable read', only: 'on' })
})

test('an error thrown in a transaction rolls it back and reaches the caller', async () => {
  const table = `thrown_${process.pid}`
  const mistake = new Error('a mistake')
  await assert.rejects(
    postgres.begin(async (transaction) => {
      await transaction.unsafe(`CREATE TABLE ${table} (id int)`)
      throw mistake
    }),
    mistake,
  )
  assert.deepEqual([...(await postgres`SELECT to_regclass(${table}) AS found`)], [{ found: null }])
})

test('a transaction within a transaction is the same one', async () => {
  const idOf = async (connection: Postgres) => (await connection`SELECT pg_current_xact_id()::text AS id`)[0]?.id
  const [outer, inner] = await inTransaction(postgres, async (transaction) => [
    await idOf(transaction),
    await inTransaction(transaction, idOf),
  ])
  assert.equal(inner, outer)
  assert.notEqual(await inTransaction(postgres, idOf), outer)
})

test('a server that is down is an outage; a wrong name or statement is not', async () => {
  const reasons = await Promise.all(
    [databaseUrl.replace(/:\d+\//, ':1/'), databaseUrl.replace(/\/[^/]*$/, '/nobody_made_this')].map(async (url) => {
      const other = openPostgres(url, 1)
      const reason = await other.begin(async () => {}).catch((error) => error)
      await other.end({ timeout: 0 })
      return reason
    }),
  )
  const mistake = await postgres`SELECT nothing`.catch((error) => error)
  assert.deepEqual([...reasons, mistake].map(isOutage), [true, false, false])
})
