import { isKeyText, keyPrefix } from '../accounts/key-text.ts'
import {
  createKey,
  deleteKey,
  type KeyListing,
  listKeys,
  rotateKey,
  selectKey,
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
      ...(expires && { expiresAt: futureOf(expires) }),
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
                (stateOf(key) === 'active' ? terminal.good : terminal.bad)(stateOf(key) + expiryOf(key)),
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
  async run(input, context) {
    const { postgres } = context
    const [id, when] = positionals(input, ['key-id', 'date']) as [string, string]
    const { id: found } = await keyOf(context, id)
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
  async run(input, context) {
    const { postgres, config } = context
    const [reference] = positionals(input, ['key-id']) as [string]
    const hours = Number(text(input, 'overlap') ?? 24)
    if (!(hours >= 0 && hours <= longestOverlapHours)) {
      throw new CommandError('That overlap is too long.', `--overlap takes 0 to ${longestOverlapHours} hours.`)
    }
    const old = await keyOf(context, reference)
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
    async run(input, context) {
      const [reference] = positionals(input, ['key-id']) as [string]
      const key = await keyOf(context, reference)
      await apply(context.postgres, key.id)
      return {
        data: { id: key.id, [done]: true },
        show: () => `${key.prefix}… (${key.name}) is ${done}, in every process.`,
      }
    },
  }
}

/** By id, by the prefix that lists show, or by the whole text of a key that leaked, which is found by its hash. */
async function keyOf({ postgres, config }: Context, reference: string): Promise<KeyListing> {
  const keys = await listKeys(postgres)
  if (isKeyText(reference)) {
    const [row] = await selectKey(postgres, config.KEY_SECRETS, reference)
    const found = keys.find(({ id }) => id === row?.id)
    if (!found) throw unknownKey(reference)
    return found
  }
  const prefix = reference.replace('…', '')
  const found = keys.filter((key) => key.id === reference || key.prefix === prefix)
  if (found.length > 1) {
    throw new CommandError(
      `Several keys begin with ${prefix}: ${found.map(({ id }) => id).join(', ')}.`,
      'Name one by its id; footfall key list shows what each reads.',
    )
  }
  if (found[0]) return found[0]
  // The gate would not know it either; to guess which key is meant could hit another one.
  if (/^ff_[sa]_.{5,}/.test(reference)) {
    throw new CommandError('That is not the whole text of a key.', 'Name it by its id: footfall key list')
  }
  throw unknownKey(reference)
}

/** Never the whole text: what is printed may be kept. */
const unknownKey = (reference: string) =>
  new CommandError(
    `There is no key ${isKeyText(reference) ? `${keyPrefix(reference)}…` : reference}.`,
    'See them all with: footfall key list',
  )

const stateOf = ({ disabled, expiresAt }: KeyListing): string => {
  if (disabled) return 'disabled'
  return expiresAt && expiresAt.getTime() <= Date.now() ? 'expired' : 'active'
}

/** Behind the state: ` until 2027-01-31` of one that works, ` 2026-01-31` of one that has expired. */
const expiryOf = (key: KeyListing): string => {
  const at = key.expiresAt?.toISOString().slice(0, 16).replace('T', ' ').replace(' 00:00', '')
  if (!at || key.disabled) return ''
  return stateOf(key) === 'active' ? ` until ${at}` : ` ${at}`
}

function futureOf(given: string): Date {
  const time = timeOf(given)
  if (time.getTime() > Date.now()) return time
  throw new CommandError(`${given} is in the past.`, 'Name a date that is still to come: the key would never work.')
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
