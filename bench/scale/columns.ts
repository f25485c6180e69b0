// Bytes of an event on disk, by column, when traffic has many tags and properties: 30 % of sessions have all UTM tags, and 10 % of events
// have three properties. The values are drawn independently of each other, so they compress worse than those of real campaigns. It is a copy
// of the whale's events, so that no other figure depends on it.
import { longTailed } from '../../src/demo/draws.ts'
import { type Sql, sql, text, texts } from '../../src/stores/clickhouse-sql.ts'
import { round } from '../api/measure.ts'
import type { BenchSite } from './sites.ts'
import { fingerprint } from './state.ts'
import type { World } from './world.ts'

export interface ColumnBytes {
  /** Everything on disk, indexes too. */
  total: number
  byColumn: Record<string, number>
}

const ofSession = (name: string) => sql`cityHash64(session_id, ${text(name)})`
const ofEvent = (name: string) => sql`cityHash64(event_id, ${text(name)})`
const numbered = (name: string, hash: Sql, count: number) =>
  sql`concat(${text(name)}, toString(${longTailed(hash, count)}))`

const isTagged = sql`${ofSession('is tagged')} % 10 < 3`
const tagged = (value: Sql) => sql`if(${isTagged}, ${value}, '')`
const media = ['cpc', 'email', 'social', 'display', 'affiliate', 'referral', 'push', 'sms']
const plans = ['free', 'pro', 'team', 'enterprise']

export function measureColumns({ clickhouse, state }: World, { id }: BenchSite): Promise<ColumnBytes> {
  const made = fingerprint('migrations/clickhouse/schema.sql', 'bench/scale/columns.ts')
  return state.once(`columns ${made}`, async () => {
    await clickhouse.command('DROP TABLE IF EXISTS columns_of_the_bench SYNC')
    await clickhouse.command('CREATE TABLE columns_of_the_bench AS events')
    // ClickHouse does not tell the sizes of columns that share a file.
    await clickhouse.command('ALTER TABLE columns_of_the_bench MODIFY SETTING min_bytes_for_wide_part = 0')
    await clickhouse.run(
      sql`
        INSERT INTO columns_of_the_bench SELECT * REPLACE (
          ${tagged(numbered('source-', ofSession('source'), 40))} AS utm_source,
          ${tagged(sql`${texts(media)}[${longTailed(ofSession('medium'), media.length)}]`)} AS utm_medium,
          ${tagged(numbered('campaign-', ofSession('campaign'), 300))} AS utm_campaign,
          ${tagged(numbered('content-', ofSession('content'), 50))} AS utm_content,
          ${tagged(numbered('words of a search ', ofSession('term'), 1_000))} AS utm_term,
          if(
            ${ofEvent('has properties')} % 10 = 0,
            map(
              'plan', ${texts(plans)}[${longTailed(ofEvent('plan'), plans.length)}],
              'author', ${numbered('author ', ofEvent('author'), 200)},
              'article', ${numbered('article-', ofEvent('article'), 5_000)}
            ),
            map()
          ) AS props
        )
        FROM events WHERE site_id = ${text(id)}`,
      { max_insert_threads: '2', wait_end_of_query: 1, insert_deduplicate: 0 },
    )
    await clickhouse.command('OPTIMIZE TABLE columns_of_the_bench FINAL')
    const parts = sql`active AND database = currentDatabase() AND table = 'columns_of_the_bench'`
    const columns = await clickhouse.rows<{ name: string; bytes: number }>(sql`
      SELECT column AS name, sum(column_bytes_on_disk) / sum(rows) AS bytes FROM system.parts_columns
      WHERE ${parts} GROUP BY name ORDER BY bytes DESC`)
    const [all] = await clickhouse.rows<{ bytes: number }>(
      sql`SELECT sum(bytes_on_disk) / sum(rows) AS bytes FROM system.parts WHERE ${parts}`,
    )
    await clickhouse.command('DROP TABLE columns_of_the_bench SYNC')
    return {
      total: round(all?.bytes ?? 0, 2),
      byColumn: Object.fromEntries(columns.map(({ name, bytes }) => [name, round(bytes, 3)])),
    }
  })
}
