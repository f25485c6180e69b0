// The cost of writing: rows as a collector sends them, in batches of its size, into separate tables.
import { randomUUID } from 'node:crypto'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { date, sql, text, uint } from '../../src/stores/clickhouse-sql.ts'
import { cpuSeconds, round } from '../api/measure.ts'
import type { BenchSite } from './sites.ts'
import type { World } from './world.ts'

const batch = 20_000
const batches = 10

export interface InsertResult {
  events: number
  /** CPU time of ClickHouse, including its merges during that time, and of the sending process. */
  clickhouseMicroseconds: number
  senderMicroseconds: number
}

export async function measureInserting(world: World, site: BenchSite): Promise<InsertResult> {
  // Rows of one day, as they arrive: rows of many days would become one part per month.
  const rows = await world.clickhouse.rows<object>(sql`
    SELECT * REPLACE (
      toString(visitor_id) AS visitor_id, toString(session_id) AS session_id, ${date(`${world.now.toPlainDate()}`)} AS day
    )
    FROM events WHERE site_id = ${text(site.id)} LIMIT ${uint(batch)}`)
  const database = 'inserting'
  await world.clickhouse.command(`DROP DATABASE IF EXISTS ${database} SYNC`)
  await world.clickhouse.command(`CREATE DATABASE ${database}`)
  await world.clickhouse.command(`CREATE TABLE ${database}.events AS events`)
  const into = openClickHouse(`${world.clickhouseServer.url}/${database}`)
  try {
    await into.insert('events', rows, randomUUID()) // warms up connections and code
    const before = cpuSeconds(world.clickhouseServer.pid)
    const own = process.cpuUsage()
    for (let nth = 0; nth < batches; nth++) await into.insert('events', rows, randomUUID())
    const clickhouseSeconds = cpuSeconds(world.clickhouseServer.pid) - before
    const { user, system } = process.cpuUsage(own)
    const events = rows.length * batches
    return {
      events,
      clickhouseMicroseconds: round((clickhouseSeconds * 1e6) / events, 2),
      senderMicroseconds: round((user + system) / events, 2),
    }
  } finally {
    await into.close()
    await world.clickhouse.command(`DROP DATABASE ${database} SYNC`)
  }
}
