// Changes of goals by people, each together with its entry in the audit log: the console and the command line change goals only here.
import { createGoal, deleteGoal, replaceGoal } from '../accounts/goals.ts'
import type { Site } from '../accounts/sites.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Goal, goalText } from '../traffic/goals.ts'
import { type Actor, type AuditEntry, recordAction } from './audit-log.ts'

/** Throws `InvalidSetting` if the site has the name already or has too many goals. */
export const addGoal = (postgres: Postgres, actor: Actor, site: Site, goal: Goal): Promise<void> =>
  change(postgres, actor, site, {
    action: 'goal.created',
    details: goalText(goal),
    apply: (transaction) => createGoal(transaction, site.id, goal),
  })

/** Does nothing if the goal stays the same, so that the log has only real changes. */
export async function changeGoal(postgres: Postgres, actor: Actor, site: Site, name: string, goal: Goal) {
  const before = site.goals.find((one) => one.name === name)
  const from = before ? goalText(before) : name
  const to = goalText(goal)
  if (from === to) return
  await change(postgres, actor, site, {
    action: 'goal.changed',
    details: `${from} → ${to}`,
    apply: (transaction) => replaceGoal(transaction, site.id, name, goal),
  })
}

export const removeGoal = (postgres: Postgres, actor: Actor, site: Site, name: string): Promise<void> =>
  change(postgres, actor, site, {
    action: 'goal.deleted',
    details: name,
    apply: (transaction) => deleteGoal(transaction, site.id, name),
  })

interface Change {
  action: AuditEntry['action']
  details: string
  apply(transaction: Postgres): Promise<void>
}

const change = (
  postgres: Postgres,
  actor: Actor,
  { accountId, domain }: Site,
  { action, details, apply }: Change,
): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    await apply(transaction)
    await recordAction(transaction, { ...actor, accountId, action, subject: domain, details })
  })
