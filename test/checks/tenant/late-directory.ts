// (d) A PostgreSQL that answers late: many lookups are under way when their deadline passes, and each one that is answered in the
// end is answered with its own row. A driver that loses count of its answers would let one key in as another.
import { createAccount } from '../../../src/accounts/accounts.ts'
import { openDirectory } from '../../../src/accounts/directory.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import type { Postgres } from '../../../src/stores/postgres.ts'
import { openRequestPostgres } from '../../../src/stores/request-postgres.ts'
import type { Random } from '../../oracle/random.ts'
import { keySecrets } from '../../support/stores.ts'
import { type BreakableStores, pause } from './breakable-stores.ts'

export interface LateTally {
  lookups: number
  right: number
  /** Given up: PostgreSQL did not answer in time. */
  refused: number
  /** Answered with the row of another key or site, or as if there were none. */
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
): Promise<LateTally> {
  const tally: LateTally = { lookups: 0, right: 0, refused: 0, wrong: 0, examples: [] }
  const tenants = await makeTenants(postgres, (rounds + 1) * atOnce)
  const connections = openRequestPostgres(addresses.postgres)
  const directory = openDirectory(connections, { secrets: keySecrets })
  const look = async (id: string, lookUp: () => Promise<{ id: string } | undefined>): Promise<void> => {
    tally.lookups++
    try {
      const found = await lookUp()
      if (found?.id === id) return void tally.right++
      tally.wrong++
      if (tally.examples.length < 3) tally.examples.push(`${id} was looked up and ${found?.id} was found`)
    } catch {
      tally.refused++
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
      // The deadline of a lookup is 250 ms.
      await Promise.all([stopPostgres(200 + random.below(200)), ...batch(round).map(ask)])
      await pause(600) // the breaker has asked again by then
      await Promise.all([...batch(round), ...batch(round - 1)].map(ask))
    }
  } finally {
    await directory.close()
    await connections.close()
  }
  return tally
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
