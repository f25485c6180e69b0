// Checks and normalises goals that people enter. The command line and the console share it, so that both accept and store the same.
import { pageview } from '../traffic/event.ts'
import type { Goal, GoalCondition } from '../traffic/goals.ts'
import { InvalidSetting } from './site-rules.ts'

/** Lengths that the table allows. Longer names of events and values of properties are not recorded. */
export const maxGoalLength = { name: 60, event: 120, propertyKey: 60, propertyValue: 200, pattern: 500 } as const
/** They bound the time of one match. */
const maxWildcards = 10

/** One of `event` and `pattern`; `property` belongs to an event. Undefined: nothing was entered. */
export interface EnteredCondition {
  event?: string | undefined
  property?: { key: string; value: string } | undefined
  pattern?: string | undefined
}

export const goalOf = (name: string, condition: EnteredCondition): Goal => ({
  name: goalNameOf(name),
  condition: conditionOf(condition),
})

export function goalNameOf(text: string): string {
  return lineOf(text, {
    what: 'The name of the goal',
    max: maxGoalLength.name,
    advice: 'Use a few words, such as Signup.',
  })
}

export function conditionOf({ event, property, pattern }: EnteredCondition): GoalCondition {
  if (pattern !== undefined && (event !== undefined || property !== undefined))
    throw new InvalidSetting('A goal has an event or a path, not both.', 'Make two goals of it.')
  if (pattern !== undefined) return { kind: 'path', pattern: patternOf(pattern) }
  if (event === undefined) throw new InvalidSetting('A goal needs an event or a path.', 'Enter one of them.')
  return { kind: 'event', event: eventOf(event), ...(property && { property: propertyOf(property) }) }
}

function eventOf(text: string): string {
  const advice = 'Enter it as your pages send it, such as Signup.'
  const event = lineOf(text, { what: 'The name of the event', max: maxGoalLength.event, advice })
  if (event === pageview)
    throw new InvalidSetting('Pageviews are no custom events.', 'Choose a path instead; /** stands for all pages.')
  return event
}

function propertyOf({ key: enteredKey, value }: { key: string; value: string }) {
  const key = enteredKey.trim()
  if (!/^[A-Za-z0-9_.-]{1,60}$/.test(key))
    throw new InvalidSetting(
      key === '' ? 'The name of the property is missing.' : 'That is not the name of a property.',
      'It has up to 60 letters, digits, dots, hyphens and underscores, such as plan.',
    )
  const advice = 'Enter it as your pages send it, such as pro.'
  return { key, value: lineOf(value, { what: 'The value of the property', max: maxGoalLength.propertyValue, advice }) }
}

/** As browsers send paths, because events have them like that: `/café` becomes `/caf%C3%A9`. */
function patternOf(text: string): string {
  const advice = 'Write it from the first slash on, such as /pricing or /blog/**.'
  const entered = lineOf(text, { what: 'The path', max: maxGoalLength.pattern, advice })
  if (!entered.startsWith('/')) throw new InvalidSetting('A path begins with a slash.', advice)
  if (/[?#]/.test(entered)) throw new InvalidSetting('A path ends before ? and #.', 'Leave out what comes after it.')
  const pattern = new URL(`https://site.example${entered}`).pathname
  if (pattern.length > maxGoalLength.pattern) throw tooLong('The path', maxGoalLength.pattern, advice)
  if ((pattern.match(/\*+/g) ?? []).length > maxWildcards)
    throw new InvalidSetting(`A path has at most ${maxWildcards} wildcards.`, 'Let one ** stand for several of them.')
  return pattern
}

/** Without blanks around it, because they come from copying. */
export function lineOf(text: string, { what, max, advice }: { what: string; max: number; advice: string }): string {
  const line = text.trim()
  if (line === '') throw new InvalidSetting(`${what} is missing.`, advice)
  if (line.length > max) throw tooLong(what, max, advice)
  if (/[\p{Cc}\p{Cs}]/u.test(line)) throw new InvalidSetting(`${what} must be plain text in one line.`, advice)
  return line
}

const tooLong = (what: string, max: number, advice: string): InvalidSetting =>
  new InvalidSetting(`${what} is too long: it may have ${max} characters.`, advice)
