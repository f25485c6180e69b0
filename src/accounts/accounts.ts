import type { Postgres } from '../stores/postgres.ts'
import { newId } from './ids.ts'
import type { Plan } from './plans.ts'

export interface Account {
  id: string
  name: string
  plan: Plan
  sites: number
  createdAt: Date
}

export async function createAccount(postgres: Postgres, { name, plan }: { name: string; plan: Plan }): Promise<string> {
  const id = newId('acct')
  await postgres`INSERT INTO accounts (id, name, plan) VALUES (${id}, ${name}, ${plan})`
  return id
}

export const listAccounts = (postgres: Postgres): Promise<Account[]> => postgres<Account[]>`
  SELECT id, name, plan, created_at AS "createdAt",
         (SELECT count(*)::int FROM sites WHERE account_id = accounts.id) AS sites
  FROM accounts ORDER BY created_at, id`

/** Returns false when the account does not exist. */
export async function setPlan(postgres: Postgres, id: string, plan: Plan): Promise<boolean> {
  const { count } = await postgres`UPDATE accounts SET plan = ${plan} WHERE id = ${id}`
  return count > 0
}

/** Deletes only an account without sites, because a site also has rows in ClickHouse (erasure/rows.ts). */
export async function deleteAccount(postgres: Postgres, id: string): Promise<boolean> {
  const { count } = await postgres`
    DELETE FROM accounts WHERE id = ${id} AND NOT EXISTS (SELECT FROM sites WHERE account_id = ${id})`
  return count > 0
}
