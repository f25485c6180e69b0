// What rolling up a site costs, as a multiple of a statement that reads the same events, in the same run. CPU time of ClickHouse with its
// merges.
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { generateDemo } from '../../src/demo/generate.ts'
import { rollUpMonths, rollUpSite } from '../../src/rollups/roll-up.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { connect, createStores, disconnect } from '../../test/support/stores.ts'
import { cpuSeconds } from '../api/measure.ts'
import { untilMerged } from '../rollup/merges.ts'

const events = 400_000
const sites = 3
const readings = 20

/** The least of three sites: others can only make it more. */
export async function measureRollingUp(): Promise<number> {
  const created = await createStores()
  const stores = connect(created.addresses)
  const { postgres, clickhouse } = stores
  const pid = created.clickhousePid as number
  const cpuOf = async (work: () => Promise<unknown>): Promise<number> => {
    await untilMerged(clickhouse)
    const before = cpuSeconds(pid)
    await work()
    await untilMerged(clickhouse)
    return cpuSeconds(pid) - before
  }
  try {
    const accountId = await createAccount(postgres, { name: 'Ratchet', plan: 'Agency' })
    const ratios: number[] = []
    for (let seed = 0; seed < sites; seed++) {
      const domain = `ratchet-${seed}.example`
      const siteId = await createSite(postgres, { accountId, domain })
      const until = Date.parse('2026-03-15T12:00:00Z')
      await generateDemo({ clickhouse, siteId, domain, zone: 'UTC', events, seed, until })
      const reading = await cpuOf(async () => {
        for (let time = 0; time < readings; time++) await clickhouse.rowsPatiently(readingOf(siteId))
      })
      const rollingUp = await cpuOf(async () => {
        await rollUpSite(stores, siteId, '2026-03-14')
        await rollUpMonths(stores, siteId)
      })
      ratios.push(rollingUp / (reading / readings))
    }
    return Math.min(...ratios)
  } finally {
    await disconnect(stores)
    await created.remove()
  }
}

const readingOf = (siteId: string) => sql`
  SELECT day, pathname, uniqExact(visitor_id) AS visitors FROM events WHERE site_id = ${text(siteId)} GROUP BY day, pathname
  ORDER BY visitors DESC LIMIT 1`
