import type { Postgres } from '../stores/postgres.ts'
import { newId } from './ids.ts'
import type { Plan } from './plans.ts'

export async function createAccount(postgres: Postgres, { name, plan }: { name: string; plan: Plan }): Promise<string> {
  const id = newId('acct')
  await postgres`INSERT INTO accounts (id, name, plan) VALUES (${id}, ${name}, ${plan})`
  return id
}

export const setPlan = (postgres: Postgres, id: string, plan: Plan) =>
  postgres`UPDATE accounts SET plan = ${plan} WHERE id = ${id}`
