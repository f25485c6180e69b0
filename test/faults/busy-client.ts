// A process that uses PostgreSQL in every way Footfall does: queries with arrays, transactions with pauses, LISTEN. It prints its counts
// once per second. It counts failures and must survive all of them; no transaction may be applied in part.
import { setTimeout as sleep } from 'node:timers/promises'
import { openPostgres } from '../../src/stores/postgres.ts'

const postgres = openPostgres(process.env.DATABASE_URL as string, 4)
const done = { queries: 0, transactions: 0, failed: 0, notices: 0 }

async function forEver(work: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; ; round++) {
    await work(round).catch(() => done.failed++)
    await sleep(5)
  }
}

async function query(round: number): Promise<void> {
  const words = ['a', `"${round}"`, 'c,d']
  const [row] = await postgres<[{ words: string[] }]>`SELECT ${words}::text[] AS words`
  if (row.words.join() !== words.join()) throw new Error(`PostgreSQL gave ${row.words} back`)
  done.queries++
}

/** Writes two rows with a pause between them that does not use PostgreSQL, as a rollup run does. */
async function transact(name: string): Promise<void> {
  await postgres.begin(async (transaction) => {
    await transaction`INSERT INTO pairs (name) VALUES (${name})`
    await sleep(Math.random() * 300)
    await transaction`INSERT INTO pairs (name) VALUES (${name})`
  })
  done.transactions++
}

await postgres`CREATE TABLE IF NOT EXISTS pairs (name text)`
postgres.listen('pairs', () => done.notices++).catch(() => {})
for (let lane = 0; lane < 3; lane++) {
  void forEver(query)
  void forEver((round) => transact(`${process.pid} ${lane} ${round}`))
}
void forEver(async () => {
  await postgres.notify('pairs', 'again')
})
setInterval(() => process.send?.(done), 250)
process.once('disconnect', () => process.exit())
