import { createPostgresDatabase, openPostgres } from '../../src/stores/postgres.ts'
import { databaseUrl, newDatabaseName } from '../support/stores.ts'
import type { Check } from './runner.ts'

/** An empty database in PostgreSQL, which is removed at the end. */
export async function ownDatabase(check: Check) {
  const name = newDatabaseName()
  const url = Object.assign(new URL(databaseUrl), { pathname: `/${name}` }).href
  await createPostgresDatabase(url)
  const client = openPostgres(url, 2)
  check.onEnd(async () => {
    await client.end({ timeout: 1 })
    const admin = openPostgres(databaseUrl, 1)
    await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  })
  return { url, client }
}
