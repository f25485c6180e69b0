// A PostgreSQL that is late: many lookups are running when their timeout passes, and each one that succeeds returns its own row. A driver
// that loses count of its responses would accept one key as another.
import { createAccount } from '../../../src/accounts/accounts.ts'
import { openDirectory } from '../../../src/accounts/directory.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import type { Postgres } from '../../../src/stores/postgres.ts'
import { openRequestPostgres } from '../../../src/stores/request-postgres.ts'
import type { Random } from '../../support/random.ts'
import { keySecrets } from '../../support/stores.ts'
import { type BreakableStores, pause } from './breakable-stores.ts'

export interface LateCounts {
  lookups: number
  right: number
  /** Timed out: PostgreSQL did not respond in time. */
  refused: number
  /** Returned the row of another key or site, or none. */
  wrong: number
  examples: string[]
}

interface Tenant {
  keyId: string
  keyText: string
  siteId: string
}

const atOnce = 40

export async function checkLateDirectory(
  { postgres, addresses, stopPostgres }: BreakableStores,
  rounds: number,
  random: Random,
): Promise<LateCounts> {
  const totals: LateCounts = { lookups: 0, right: 0, refused: 0, wrong: 0, examples: [] }
  const tenants = await makeTenants(postgres, (rounds + 1) * atOnce)
  const connections = openRequestPostgres(addresses.postgres)
  const directory = openDirectory(connections, { secrets: keySecrets })
  const look = async (id: string, lookUp: () => Promise<{ id: string } | undefined>): Promise<void> => {
    totals.lookups++
    try {
      const found = await lookUp()
      if (found?.id === id) return void totals.right++
      totals.wrong++
      if (totals.examples.length < 3) totals.examples.push(`${id} was looked up and ${found?.id} was found`)
    } catch {
      totals.refused++
    }
  }
  const ask = async ({ keyId, keyText, siteId }: Tenant): Promise<void> => {
    await look(keyId, () => directory.key(keyText))
    await look(siteId, () => directory.site(siteId))
  }
  const batch = (number: number) => tenants.slice(number * atOnce, (number + 1) * atOnce)

  try {
    await Promise.all(batch(0).map(ask)) // opens the connections and prepares the statements
    for (let round = 1; round <= rounds; round++) {
      // A lookup times out after 250 ms.
      await Promise.all([stopPostgres(200 + random.below(200)), ...batch(round).map(ask)])
      await pause(600) // by now the circuit breaker has tried again
      await Promise.all([...batch(round), ...batch(round - 1)].map(ask))
    }
  } finally {
    await directory.close()
    await connections.close()
  }
  return totals
}

const makeTenants = (postgres: Postgres, count: number): Promise<Tenant[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const accountId = await createAccount(postgres, { name: `Late ${number}`, plan: 'Agency' })
      const siteId = await createSite(postgres, { accountId, domain: `late-${number}.example` })
      const key = await createKey(postgres, keySecrets, { accountId, siteId, name: 'Key' })
      return { keyId: key.id, keyText: key.text, siteId }
    }),
  )
