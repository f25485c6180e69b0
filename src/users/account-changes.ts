// Changes of accounts by people, each together with its entry in the audit log: the command line changes accounts only here.
import { type Account, createAccount, deleteAccount, setPlan } from '../accounts/accounts.ts'
import type { Plan } from '../accounts/plans.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, recordAction } from './audit-log.ts'

/** Returns the id of the new account. */
export const addAccount = (
  postgres: Postgres,
  actor: Actor,
  { name, plan }: Pick<Account, 'name' | 'plan'>,
): Promise<string> =>
  inTransaction(postgres, async (transaction) => {
    const accountId = await createAccount(transaction, { name, plan })
    await recordAction(transaction, { ...actor, accountId, action: 'account.created', subject: name, details: plan })
    return accountId
  })

export const changePlan = (postgres: Postgres, actor: Actor, { id, name, plan: old }: Account, plan: Plan) =>
  inTransaction(postgres, async (transaction) => {
    await setPlan(transaction, id, plan)
    const entry = { action: 'account.plan_changed', subject: name, details: `${old} → ${plan}` } as const
    await recordAction(transaction, { ...actor, accountId: id, ...entry })
  })

/** Returns false if the account still has sites. */
export const removeAccount = (postgres: Postgres, actor: Actor, { id, name }: Account): Promise<boolean> =>
  inTransaction(postgres, async (transaction) => {
    if (!(await deleteAccount(transaction, id))) return false
    await recordAction(transaction, { ...actor, accountId: id, action: 'account.deleted', subject: name })
    return true
  })
