import { conditionOf, type EnteredCondition, goalNameOf, goalOf } from '../accounts/goal-rules.ts'
import type { Site } from '../accounts/sites.ts'
import { conditionText, type Goal, goalText } from '../traffic/goals.ts'
import { commandLine } from '../users/audit-log.ts'
import { addGoal, changeGoal, removeGoal } from '../users/goal-changes.ts'
import { type Command, CommandError, type Input, positionals, text } from './command.ts'
import { asCommandError } from './invalid-setting.ts'
import { siteOf } from './site-reference.ts'

const conditionOptions = {
  event: { type: 'string' },
  property: { type: 'string' },
  path: { type: 'string' },
} as const

const conditionHelp = {
  event: 'the name of a custom event that reaches the goal',
  property: 'with --event: a property and its value that the event must have, such as plan=pro',
  path: "the pages that reach the goal: * stands for anything within a segment, ** for anything; quote it, such as '/blog/**'",
}

const create: Command = {
  summary: 'Add a goal to a site; it counts past days, too',
  usage: '<site> <name> --event <event> [--property <key>=<value>] | --path <pattern>',
  options: conditionOptions,
  optionHelp: conditionHelp,
  examples: [
    'footfall goal create example.com Signup --event Signup',
    "footfall goal create example.com 'Pro plan' --event Signup --property plan=pro",
    "footfall goal create example.com Blog --path '/blog/**'",
  ],
  async run(input, { postgres }) {
    const [reference, name] = positionals(input, ['site', 'name']) as [string, string]
    const site = await siteOf(postgres, reference)
    const goal = await checked(async () => {
      const entered = goalOf(name, enteredCondition(input))
      await addGoal(postgres, commandLine, site, entered)
      return entered
    })
    return { data: { id: site.id, goal }, show: () => `${site.domain} has a new goal. ${goalText(goal)}.` }
  },
}

const list: Command = {
  summary: 'Show the goals of a site',
  usage: '<site>',
  async run(input, { postgres }) {
    const [reference] = positionals(input, ['site']) as [string]
    const { domain, goals } = await siteOf(postgres, reference)
    return {
      data: goals,
      show: (terminal) =>
        goals.length === 0
          ? `${domain} has no goals yet. Next: footfall goal create ${domain} <name> --event <event>`
          : terminal.table(
              ['NAME', 'REACHED BY'],
              goals.map(({ name, condition }) => [name, conditionText(condition)]),
            ),
    }
  },
}

const change: Command = {
  summary: 'Change the name or the condition of a goal, also for past days',
  usage: '<site> <name> [--name <new name>] [--event <event> [--property <key>=<value>] | --path <pattern>]',
  options: { name: { type: 'string' }, ...conditionOptions },
  optionHelp: { name: 'another name for the goal', ...conditionHelp },
  examples: ["footfall goal change example.com Blog --name News --path '/news/**'"],
  async run(input, { postgres }) {
    const [reference, name] = positionals(input, ['site', 'name']) as [string, string]
    if (Object.keys({ name: '', ...conditionOptions }).every((option) => text(input, option) === undefined))
      throw new CommandError('What should be changed?', 'Use --name, --event or --path.')
    const site = await siteOf(postgres, reference)
    const before = goalCalled(site, name)
    const goal = await checked(async () => {
      const entered = enteredCondition(input)
      const hasCondition = Object.values(entered).some((part) => part !== undefined)
      const after: Goal = {
        name: goalNameOf(text(input, 'name') ?? before.name),
        condition: hasCondition ? conditionOf(entered) : before.condition,
      }
      await changeGoal(postgres, commandLine, site, before.name, after)
      return after
    })
    return { data: { id: site.id, goal }, show: () => `${site.domain} has changed its goal. ${goalText(goal)}.` }
  },
}

const remove: Command = {
  summary: 'Remove a goal; no traffic is lost, so it can be added again',
  usage: '<site> <name>',
  async run(input, { postgres }) {
    const [reference, name] = positionals(input, ['site', 'name']) as [string, string]
    const site = await siteOf(postgres, reference)
    const goal = goalCalled(site, name)
    await checked(() => removeGoal(postgres, commandLine, site, goal.name))
    return {
      data: { id: site.id, goal, removed: true },
      show: () => `${site.domain} has no goal ${goal.name} any more.`,
    }
  },
}

function enteredCondition(input: Input): EnteredCondition {
  const property = text(input, 'property')
  return {
    event: text(input, 'event'),
    property: property === undefined ? undefined : keyAndValue(property),
    pattern: text(input, 'path'),
  }
}

function keyAndValue(property: string) {
  const equals = property.indexOf('=')
  if (equals === -1)
    throw new CommandError('--property needs a name and a value.', 'Write it as <key>=<value>, such as plan=pro.')
  return { key: property.slice(0, equals), value: property.slice(equals + 1) }
}

function goalCalled({ domain, goals }: Site, name: string): Goal {
  const goal = goals.find((one) => one.name === name.trim())
  if (!goal) throw new CommandError(`${domain} has no goal ${name}.`, `See them all with: footfall goal list ${domain}`)
  return goal
}

const checked = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  try {
    return await work()
  } catch (error) {
    throw asCommandError(error)
  }
}

export const goal = { create, list, change, remove }
