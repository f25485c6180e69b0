import { isKeyText, keyPrefix } from '../accounts/key-text.ts'
import { type KeyListing, listKeys, selectKey } from '../accounts/keys.ts'
import { hourMs } from '../durations.ts'
import type { Postgres } from '../stores/postgres.ts'
import { commandLine } from '../users/audit-log.ts'
import { addKey, changeKeyExpiry, removeKey, replaceKey, switchKey } from '../users/key-changes.ts'
import { type Command, CommandError, type Context, type Output, positionals, text } from './command.ts'
import { siteOf } from './site-reference.ts'

const maxOverlapHours = 7 * 24

const create: Command = {
  summary: 'Create an API key for a site, or for a whole account',
  usage: '<site> | --account <id> [--name <name>] [--expires <date>]',
  options: { account: { type: 'string' }, name: { type: 'string' }, expires: { type: 'string' } },
  optionHelp: {
    account: 'a key for every site of this account',
    name: 'a name for the key, shown in lists',
    expires: 'when the key expires: a date (at 00:00 UTC) or a date-time',
  },
  examples: ['footfall key create example.com --name dashboard'],
  async run(input, { postgres, config }) {
    const accountId = text(input, 'account')
    if (!accountId && input.positionals.length === 0)
      throw new CommandError(
        'Name a site or --account <id>.',
        'footfall site list shows the sites, footfall account list the accounts.',
      )
    if (accountId && input.positionals.length > 0)
      throw new CommandError('A key reads a site or --account <id>, not both.', 'Leave out one of them.')
    const [reference] = positionals(input, accountId ? [] : ['site'])
    const site = reference ? await siteOf(postgres, reference) : undefined
    const expires = text(input, 'expires')
    const key = await addKey(postgres, config.KEY_SECRETS, commandLine, {
      accountId: site?.accountId ?? (accountId as string),
      siteId: site?.id,
      reads: site?.domain,
      name: text(input, 'name') ?? 'Command line',
      expiresAt: expires ? futureOf(expires) : undefined,
    })
    return shownOnce(key, `reads ${site ? site.domain : `every site of ${accountId}`}`)
  },
}

const list: Command = {
  summary: 'Show all keys, or those of one site; the text of a key is never shown again',
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

const disable = change('Disable a key until it is enabled again', 'disabled', (postgres, key) =>
  switchKey(postgres, commandLine, key, true),
)

const enable = change('Enable a disabled key again', 'enabled', (postgres, key) =>
  switchKey(postgres, commandLine, key, false),
)

const remove = change('Delete a key for good', 'deleted', (postgres, key) => removeKey(postgres, commandLine, key))

const expire: Command = {
  summary: 'Set when a key expires; a date in the future makes an expired key work again',
  usage: '<key-id> <date> | never | now',
  async run(input, context) {
    const { postgres } = context
    const [reference, when] = positionals(input, ['key-id', 'date']) as [string, string]
    const key = await keyOf(context, reference)
    const expiresAt = when === 'never' ? null : timeOf(when)
    await changeKeyExpiry(postgres, commandLine, key, expiresAt)
    return {
      data: { id: key.id, expiresAt },
      show: () => (expiresAt ? `${key.id} expires at ${expiresAt.toISOString()}.` : `${key.id} does not expire.`),
    }
  },
}

const rotate: Command = {
  summary: 'Replace a key by a new one for the same site or account; the old key keeps working for some hours',
  usage: '<key-id> [--overlap <hours>]',
  options: { overlap: { type: 'string' } },
  optionHelp: { overlap: `hours that the old key keeps working, 0 to ${maxOverlapHours}; the default is 24` },
  async run(input, context) {
    const { postgres, config } = context
    const [reference] = positionals(input, ['key-id']) as [string]
    const hours = Number(text(input, 'overlap') ?? 24)
    if (!(hours >= 0 && hours <= maxOverlapHours)) {
      throw new CommandError('That overlap is not possible.', `--overlap takes 0 to ${maxOverlapHours} hours.`)
    }
    const old = await keyOf(context, reference)
    const oldExpiresAt = new Date(Date.now() + hours * hourMs)
    const key = await replaceKey(postgres, config.KEY_SECRETS, commandLine, old, { oldExpiresAt })
    if (!key) throw unknownKey(reference)
    return shownOnce(key, `replaces ${old.prefix}…, which expires at ${oldExpiresAt.toISOString()}`)
  },
}

function change(summary: string, done: string, apply: (postgres: Postgres, key: KeyListing) => Promise<void>): Command {
  return {
    summary,
    usage: '<key-id>',
    async run(input, context) {
      const [reference] = positionals(input, ['key-id']) as [string]
      const key = await keyOf(context, reference)
      await apply(context.postgres, key)
      return {
        data: { id: key.id, [done]: true },
        show: () => `${key.prefix}… (${key.name}) is ${done} in every process.`,
      }
    },
  }
}

/** Finds a key by its id, by the prefix that lists show, or, for a leaked key, by its whole text, whose hash is looked up. */
async function keyOf({ postgres, config }: Context, reference: string): Promise<KeyListing> {
  const keys = await listKeys(postgres)
  if (isKeyText(reference)) {
    const [row] = await selectKey(postgres, config.KEY_SECRETS, reference)
    const key = keys.find(({ id }) => id === row?.id)
    if (!key) throw unknownKey(reference)
    return key
  }
  const prefix = reference.replace('…', '')
  const matches = keys.filter((key) => key.id === reference || key.prefix === prefix)
  if (matches.length > 1) {
    throw new CommandError(
      `Several keys begin with ${prefix}: ${matches.map(({ id }) => id).join(', ')}.`,
      'Name one by its id; footfall key list shows which site each key reads.',
    )
  }
  if (matches[0]) return matches[0]
  // A part of a key is not accepted, as at the gate: it could match another key.
  if (/^ff_[sa]_.{5,}/.test(reference)) {
    throw new CommandError('That is not the whole text of a key.', 'Name it by its id: footfall key list')
  }
  throw unknownKey(reference)
}

/** Never prints the whole text, because the output may be stored. */
const unknownKey = (reference: string) =>
  new CommandError(
    `There is no key ${isKeyText(reference) ? `${keyPrefix(reference)}…` : reference}.`,
    'See them all with: footfall key list',
  )

const stateOf = ({ disabled, expiresAt }: KeyListing): string => {
  if (disabled) return 'disabled'
  return expiresAt && expiresAt.getTime() <= Date.now() ? 'expired' : 'active'
}

/** The text after the state: ` until 2027-01-31` for an active key, ` 2026-01-31` for an expired one. */
const expiryOf = (key: KeyListing): string => {
  const at = key.expiresAt?.toISOString().slice(0, 16).replace('T', ' ').replace(' 00:00', '')
  if (!at || key.disabled) return ''
  return stateOf(key) === 'active' ? ` until ${at}` : ` ${at}`
}

function futureOf(date: string): Date {
  const time = timeOf(date)
  if (time.getTime() > Date.now()) return time
  throw new CommandError(`${date} is in the past.`, 'Use a date in the future; otherwise the key would never work.')
}

function timeOf(date: string): Date {
  const time = date === 'now' ? new Date() : new Date(date)
  if (Number.isNaN(time.getTime())) {
    throw new CommandError(`${date} is not a date.`, 'Write it as 2027-01-31 or 2027-01-31T18:00:00Z.')
  }
  return time
}

const shownOnce = ({ id, text: key }: { id: string; text: string }, what: string): Output => ({
  data: { id, key },
  show: (terminal) =>
    `${terminal.bold(key)}\n\nSave the key now: it is shown only once. It ${what}. Its id in lists is ${id}.`,
})

export const key = { create, list, disable, enable, expire, rotate, delete: remove }
