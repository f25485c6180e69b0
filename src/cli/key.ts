import {
  createKey,
  deleteKey,
  type KeyListing,
  listKeys,
  rotateKey,
  setKeyDisabled,
  setKeyExpiry,
} from '../accounts/keys.ts'
import type { Postgres } from '../stores/postgres.ts'
import { type Command, CommandError, type Context, type Output, positionals, text } from './command.ts'
import { siteOf } from './site.ts'

const longestOverlapHours = 72

const create: Command = {
  summary: 'Make an API key for a site, or for a whole account',
  usage: '<site> | --account <id> [--name <name>] [--expires <date>]',
  options: { account: { type: 'string' }, name: { type: 'string' }, expires: { type: 'string' } },
  optionHelp: {
    account: 'a key for every site of this account',
    name: 'to tell keys apart',
    expires: 'a date (its beginning, UTC) or date-time from which the key is refused',
  },
  examples: ['footfall key create example.com --name dashboard'],
  async run(input, { postgres, config }) {
    const accountId = text(input, 'account')
    const [reference] = positionals(input, accountId ? [] : ['site'])
    const site = reference ? await siteOf(postgres, reference) : undefined
    const expires = text(input, 'expires')
    const key = await createKey(postgres, config.KEY_SECRETS, {
      accountId: site?.accountId ?? (accountId as string),
      name: text(input, 'name') ?? 'Command line',
      ...(site && { siteId: site.id }),
      ...(expires && { expiresAt: timeOf(expires) }),
    })
    return shownOnce(key, `reads ${site ? site.domain : `every site of ${accountId}`}`)
  },
}

const list: Command = {
  summary: 'Show all keys, never their text',
  usage: '[<site>]',
  async run(input, { postgres }) {
    const [reference] = input.positionals
    const site = reference ? await siteOf(postgres, reference) : undefined
    const keys = (await listKeys(postgres)).filter(({ domain }) => !site || domain === site.domain)
    return {
      data: keys.map((key) => ({ ...key, state: stateOf(key) })),
      show: (terminal) =>
        keys.length === 0
          ? 'There are no keys yet. Next: footfall key create <site>'
          : terminal.table(
              ['ID', 'KEY', 'NAME', 'READS', 'STATE', 'LAST USED'],
              keys.map((key) => [
                key.id,
                `${key.prefix}…`,
                key.name,
                key.domain ?? `account ${key.accountId}`,
                stateOf(key) === 'active' ? terminal.good('active') : terminal.bad(stateOf(key)),
                key.lastUsedAt?.toISOString().slice(0, 16).replace('T', ' ') ?? 'never',
              ]),
            ),
    }
  },
}

const disable = change('Refuse a key until it is enabled again', 'disabled', (postgres, id) =>
  setKeyDisabled(postgres, id, true),
)

const enable = change('Let a disabled key work again', 'enabled', (postgres, id) => setKeyDisabled(postgres, id, false))

const remove = change('Delete a key for good', 'deleted', deleteKey)

const expire: Command = {
  summary: 'Set when a key expires; a later date revives it',
  usage: '<key-id> <date> | never | now',
  async run(input, { postgres }) {
    const [id, when] = positionals(input, ['key-id', 'date']) as [string, string]
    const { id: found } = await keyOf(postgres, id)
    const expiresAt = when === 'never' ? null : timeOf(when)
    await setKeyExpiry(postgres, found, expiresAt)
    return {
      data: { id: found, expiresAt },
      show: () => (expiresAt ? `${found} expires at ${expiresAt.toISOString()}.` : `${found} does not expire.`),
    }
  },
}

const rotate: Command = {
  summary: 'Make a new key for what an old one reads; the old one goes on for some hours',
  usage: '<key-id> [--overlap <hours>]',
  options: { overlap: { type: 'string' } },
  optionHelp: { overlap: `hours the old key goes on, 0 to ${longestOverlapHours}; 24 unless told otherwise` },
  async run(input, { postgres, config }) {
    const [reference] = positionals(input, ['key-id']) as [string]
    const hours = Number(text(input, 'overlap') ?? 24)
    if (!(hours >= 0 && hours <= longestOverlapHours)) {
      throw new CommandError('That overlap is too long.', `--overlap takes 0 to ${longestOverlapHours} hours.`)
    }
    const old = await keyOf(postgres, reference)
    const oldExpiresAt = new Date(Date.now() + hours * 3_600_000)
    const key = await rotateKey(postgres, config.KEY_SECRETS, old.id, oldExpiresAt)
    if (!key) throw unknownKey(reference)
    return shownOnce(key, `replaces ${old.prefix}…, which expires at ${oldExpiresAt.toISOString()}`)
  },
}

function change(summary: string, done: string, apply: (postgres: Postgres, id: string) => Promise<unknown>): Command {
  return {
    summary,
    usage: '<key-id>',
    async run(input, { postgres }: Context) {
      const [reference] = positionals(input, ['key-id']) as [string]
      const key = await keyOf(postgres, reference)
      await apply(postgres, key.id)
      return {
        data: { id: key.id, [done]: true },
        show: () => `${key.prefix}… (${key.name}) is ${done}, in every process.`,
      }
    },
  }
}

/** By id, by the prefix that lists show, or by the whole text of a key that leaked. */
async function keyOf(postgres: Postgres, reference: string): Promise<KeyListing> {
  const prefix = reference.replace('…', '').slice(0, 9)
  const found = (await listKeys(postgres)).filter((key) => key.id === reference || key.prefix === prefix)
  if (found.length > 1)
    throw new CommandError(`Several keys begin with ${prefix}.`, 'Name it by its id: footfall key list')
  if (!found[0]) throw unknownKey(reference)
  return found[0]
}

const unknownKey = (reference: string) =>
  new CommandError(`There is no key ${reference.slice(0, 9)}…`, 'See them all with: footfall key list')

const stateOf = ({ disabled, expiresAt }: KeyListing): string => {
  if (disabled) return 'disabled'
  return expiresAt && expiresAt.getTime() <= Date.now() ? 'expired' : 'active'
}

function timeOf(given: string): Date {
  const time = given === 'now' ? new Date() : new Date(given)
  if (Number.isNaN(time.getTime())) {
    throw new CommandError(`${given} is not a date.`, 'Write it as 2027-01-31 or 2027-01-31T18:00:00Z.')
  }
  return time
}

const shownOnce = ({ id, text: key }: { id: string; text: string }, what: string): Output => ({
  data: { id, key },
  show: (terminal) =>
    `${terminal.bold(key)}\n\nKeep it now: it is shown only this once. It ${what}; in lists it is ${id}.`,
})

export const key = { create, list, disable, enable, expire, rotate, delete: remove }
