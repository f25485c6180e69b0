import { listAccounts } from '../accounts/accounts.ts'
import { isPlan, type Plan, plans } from '../accounts/plans.ts'
import { addAccount, changePlan, removeAccount } from '../users/account-changes.ts'
import { commandLine } from '../users/audit-log.ts'
import { type Command, CommandError, positionals, text } from './command.ts'

const planNames = Object.keys(plans)

const create: Command = {
  summary: 'Create an account; accounts own sites and keys',
  usage: '<name> [--plan <plan>]',
  options: { plan: { type: 'string' } },
  optionHelp: { plan: `${planNames.join(', ')}; the default is Agency` },
  examples: ['footfall account create "Example Ltd"'],
  async run(input, { postgres }) {
    const [name] = positionals(input, ['name']) as [string]
    const plan = planOf(text(input, 'plan') ?? 'Agency')
    const id = await addAccount(postgres, commandLine, { name, plan })
    return {
      data: { id, name, plan },
      show: (terminal) =>
        `Created account ${terminal.bold(id)} (${name}, ${plan}).\nNext: footfall site create <domain> --account ${id}`,
    }
  },
}

const list: Command = {
  summary: 'Show all accounts',
  usage: '',
  async run(input, { postgres }) {
    positionals(input, [])
    const accounts = await listAccounts(postgres)
    return {
      data: accounts,
      show: (terminal) =>
        accounts.length === 0
          ? 'There are no accounts yet. Next: footfall account create <name>'
          : terminal.table(
              ['ID', 'NAME', 'PLAN', 'SITES', 'CREATED'],
              accounts.map(({ id, name, plan, sites, createdAt }) => [
                id,
                name,
                plan,
                String(sites),
                createdAt.toISOString().slice(0, 10),
              ]),
            ),
    }
  },
}

const plan: Command = {
  summary: 'Change the plan of an account; every process uses the new plan at once',
  usage: '<account-id> <plan>',
  async run(input, { postgres }) {
    const [id, planName] = positionals(input, ['account-id', 'plan']) as [string, string]
    const newPlan = planOf(planName)
    const account = (await listAccounts(postgres)).find((account) => account.id === id)
    if (!account) throw unknownAccount(id)
    await changePlan(postgres, commandLine, account, newPlan)
    const limit = plans[newPlan]
    return {
      data: { id, plan: newPlan, requestsPerHour: limit?.requestsPerHour ?? 0 },
      show: () =>
        `${id} is now on ${newPlan}: ${limit ? `${limit.requestsPerHour} requests per hour for each key` : 'no API access'}.`,
    }
  },
}

const remove: Command = {
  summary: 'Delete an account that has no sites',
  usage: '<account-id>',
  async run(input, { postgres }) {
    const [id] = positionals(input, ['account-id']) as [string]
    const account = (await listAccounts(postgres)).find((account) => account.id === id)
    if (!account) throw unknownAccount(id)
    if (!(await removeAccount(postgres, commandLine, account))) {
      throw new CommandError(
        `${id} still has ${account.sites} sites.`,
        'Delete them first: footfall site delete <site>',
      )
    }
    return { data: { id, deleted: true }, show: () => `Deleted ${id} (${account.name}).` }
  },
}

function planOf(name: string): Plan {
  const plan = planNames.find((one) => one.toLowerCase() === name.toLowerCase())
  if (!plan || !isPlan(plan)) throw new CommandError(`There is no plan ${name}.`, `Plans are ${planNames.join(', ')}.`)
  return plan
}

const unknownAccount = (id: string) =>
  new CommandError(`There is no account ${id}.`, 'See them all with: footfall account list')

export const account = { create, list, plan, delete: remove }
