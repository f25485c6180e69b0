// The goals of a site. They are part of the site, so every process learns of a change within a second.
import type { PendingQuery, Row } from 'postgres'
import type { Postgres } from '../stores/postgres.ts'
import type { Goal, GoalCondition } from '../traffic/goals.ts'
import { InvalidSetting } from './site-rules.ts'

/** A column for a SELECT from `sites`: goals as JSON, in the order of their names by code point, whatever the collation of the database. */
export const goalsColumn = (postgres: Postgres): PendingQuery<Row[]> => postgres`
  (
    SELECT coalesce(json_agg(json_build_object('name', name, 'condition',
      CASE
        WHEN path IS NOT NULL THEN json_build_object('kind', 'path', 'pattern', path)
        WHEN property_key IS NULL THEN json_build_object('kind', 'event', 'event', event)
        ELSE json_build_object('kind', 'event', 'event', event,
          'property', json_build_object('key', property_key, 'value', property_value))
      END) ORDER BY name COLLATE "C"), '[]')
    FROM goals WHERE site_id = sites.id
  )::text`

/** Throws `InvalidSetting` if the goal cannot be stored. */
export async function createGoal(postgres: Postgres, siteId: string, { name, condition }: Goal): Promise<void> {
  await stored(name, postgres`INSERT INTO goals ${postgres({ site_id: siteId, name, ...columnsOf(condition) })}`)
}

/** Gives the goal called `name` another name, another condition or both. Call it in a transaction, like `deleteGoal`. */
export async function replaceGoal(postgres: Postgres, siteId: string, name: string, goal: Goal): Promise<void> {
  await lockSite(postgres, siteId)
  const { count } = await stored(
    goal.name,
    postgres`
      UPDATE goals SET ${postgres({ name: goal.name, ...columnsOf(goal.condition) })}
      WHERE site_id = ${siteId} AND name = ${name}`,
  )
  if (count === 0) throw unknownGoal(name)
}

export async function deleteGoal(postgres: Postgres, siteId: string, name: string): Promise<void> {
  await lockSite(postgres, siteId)
  const { count } = await postgres`DELETE FROM goals WHERE site_id = ${siteId} AND name = ${name}`
  if (count === 0) throw unknownGoal(name)
}

/** Before the goal's row: a deletion of the site takes the counter of changes before the rows of goals, so the other order can deadlock. */
const lockSite = (postgres: Postgres, siteId: string) =>
  postgres`SELECT FROM sites WHERE id = ${siteId} FOR NO KEY UPDATE`

async function stored(name: string, statement: PendingQuery<Row[]>) {
  try {
    return await statement
  } catch (error) {
    const { code, constraint_name: constraint } = error as { code?: string; constraint_name?: string }
    if (code === uniqueViolation)
      throw new InvalidSetting(`There is already a goal ${name}.`, 'Choose another name, or change that goal.')
    if (constraint === 'goals_at_most_100')
      throw new InvalidSetting('A site has at most 100 goals.', 'Delete one that nobody needs any more.')
    if (code === foreignKeyViolation) throw new InvalidSetting('The site was deleted.', 'Choose another site.')
    throw error
  }
}

const uniqueViolation = '23505'
const foreignKeyViolation = '23503'

const unknownGoal = (name: string): InvalidSetting =>
  new InvalidSetting(`There is no goal ${name}.`, 'It may have been changed or deleted. Look at the list again.')

/** All four, so that a replaced goal keeps nothing of its earlier condition. */
function columnsOf(condition: GoalCondition) {
  const none = { event: null, property_key: null, property_value: null, path: null }
  if (condition.kind === 'path') return { ...none, path: condition.pattern }
  const { event, property } = condition
  return { ...none, event, property_key: property?.key ?? null, property_value: property?.value ?? null }
}
