// Changes of goals by people, each together with its entry in the audit log: the console and the command line change goals only here.
import { createGoal, deleteGoal, replaceGoal } from '../accounts/goals.ts'
import type { Site } from '../accounts/sites.ts'
import type { Postgres } from '../stores/postgres.ts'
import { type Goal, goalText } from '../traffic/goals.ts'
import type { Actor } from './audit-log.ts'
import { changeOfSite } from './change-of-site.ts'

/** Throws `InvalidSetting` if the site has the name already or has too many goals. */
export const addGoal = (postgres: Postgres, actor: Actor, site: Site, goal: Goal): Promise<void> =>
  changeOfSite(postgres, actor, site, {
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
  await changeOfSite(postgres, actor, site, {
    action: 'goal.changed',
    details: `${from} → ${to}`,
    apply: (transaction) => replaceGoal(transaction, site.id, name, goal),
  })
}

export const removeGoal = (postgres: Postgres, actor: Actor, site: Site, name: string): Promise<void> =>
  changeOfSite(postgres, actor, site, {
    action: 'goal.deleted',
    details: name,
    apply: (transaction) => deleteGoal(transaction, site.id, name),
  })
