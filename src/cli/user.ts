import type { Config } from '../config.ts'
import { outboxOf } from '../mail/settings.ts'
import type { Postgres } from '../stores/postgres.ts'
import { commandLine } from '../users/audit-log.ts'
import { inviteMember } from '../users/invitations.ts'
import { isRole, type Role, roles } from '../users/members.ts'
import { type LinkPurpose, lifetimes, linkAddress } from '../users/one-time-links.ts'
import { createResetLink } from '../users/password-changes.ts'
import { createSetupLink } from '../users/setup.ts'
import { emailOf, findUser, isEmail, listUsers, type User } from '../users/users.ts'
import { type Command, CommandError, type Output, positionals, text } from './command.ts'
import { ownerOf } from './site.ts'

const create: Command = {
  summary: 'Print a one-time link with which a person joins an account; the first person becomes its owner',
  usage: '<email> [--account <id>] [--role <role>]',
  options: { account: { type: 'string' }, role: { type: 'string' } },
  optionHelp: {
    account: 'the account to join; may be left out while there is only one',
    role: 'owner (may change everything) or viewer (may look); the default is owner for the first person, viewer for all others',
  },
  examples: ['footfall user create maria@example.com --role owner'],
  async run(input, { postgres, config }) {
    const [address] = positionals(input, ['email']) as [string]
    const email = addressOf(address)
    const role = roleOf(text(input, 'role'))
    const accountId = await ownerOf(postgres, input)
    const outbox = outboxOf(config)
    if (role !== 'viewer') {
      const token = await createSetupLink(postgres, outbox, { by: commandLine, email, accountId })
      const what = `makes ${email} the first owner`
      if (token) return link({ config, purpose: 'setup', token, what, mail: outbox ? { to: email } : noServer })
    }
    const invitation = { accountId, email, role: role ?? 'viewer' }
    const made = await inviteMember(postgres, outbox, commandLine, invitation)
    if (!made) {
      throw new CommandError(`${email} is a member already.`, `For a new password: footfall user reset ${email}`)
    }
    const what = `lets ${email} join as ${invitation.role}`
    const mail = made.isMailed ? { to: email } : outbox ? { whyNone: 'there were too many in the last hour' } : noServer
    return link({ config, purpose: 'invitation', token: made.token, what, mail })
  },
}

const reset: Command = {
  summary: 'Print a one-time link with which a person sets a new password, and disconnect single sign-on',
  usage: '<email> [--second-factor]',
  options: { 'second-factor': { type: 'boolean' } },
  optionHelp: {
    'second-factor': 'also turn the second factor off, for somebody who lost both phone and recovery codes',
  },
  examples: ['footfall user reset maria@example.com'],
  async run(input, { postgres, config }) {
    const [address] = positionals(input, ['email']) as [string]
    const user = await userOf(postgres, address)
    const { token, disconnected } = await createResetLink(postgres, outboxOf(config), commandLine, user, {
      losesSecondFactor: input.options['second-factor'] === true,
    })
    // Not mailed: whoever asks the operator may have lost the mailbox, too.
    const mail = { whyNone: 'only the form of the console mails it' }
    const made = link({ config, purpose: 'reset', token, what: `sets a new password for ${user.email}`, mail })
    return {
      data: { ...made.data, disconnected },
      show: (terminal) => [made.show(terminal), ...disconnected.map(disconnectedText)].join('\n'),
    }
  },
}

const list: Command = {
  summary: 'Show everybody who can sign in',
  usage: '',
  async run(input, { postgres }) {
    positionals(input, [])
    const users = await listUsers(postgres)
    return {
      data: users,
      show: (terminal) =>
        users.length === 0
          ? 'Nobody can sign in yet. Next: footfall user create <email>'
          : terminal.table(
              ['EMAIL', 'ROLES', 'SECOND FACTOR', 'LAST SIGN-IN'],
              users.map(({ email, roles, hasSecondFactor, signedInAt }) => [
                email,
                roles.join(', ') || 'none',
                hasSecondFactor ? 'on' : 'off',
                signedInAt?.toISOString().slice(0, 16).replace('T', ' ') ?? 'never',
              ]),
            ),
    }
  },
}

const disconnectedText = (identity: string): string =>
  `Single sign-on is disconnected: ${identity} no longer signs this user in.`

export function addressOf(address: string): string {
  const email = emailOf(address)
  if (!isEmail(email)) throw new CommandError(`${address} is not an email address.`, 'Write it like maria@example.com.')
  return email
}

function roleOf(name: string | undefined): Role | undefined {
  if (name === undefined || isRole(name)) return name
  throw new CommandError(`There is no role ${name}.`, `Roles are ${roles.join(' and ')}.`)
}

async function userOf(postgres: Postgres, address: string): Promise<User> {
  const user = await findUser(postgres, addressOf(address))
  if (!user) throw new CommandError(`There is no user ${address}.`, 'See them all with: footfall user list')
  return user
}

/** Whether the link is also in a mail. */
type Mailed = { to: string } | { whyNone: string }

const noServer: Mailed = { whyNone: 'no mail server is set up (SMTP_URL)' }

function link(made: {
  config: Config
  purpose: LinkPurpose
  token: string
  what: string
  mail: Mailed
}): Output & { data: { link: string; mailedTo: string | null } } {
  const { config, purpose, token, what, mail } = made
  const passedOn =
    'to' in mail
      ? `A mail with it is on its way to ${mail.to}.`
      : `Pass it on yourself: it is not mailed, ${mail.whyNone}.`
  const address = linkAddress(config.PUBLIC_URL ?? `http://localhost:${config.PORT}`, purpose, token)
  return {
    data: { link: address, mailedTo: 'to' in mail ? mail.to : null },
    show: (terminal) =>
      `${terminal.bold(address)}\n\nThe link ${what}. It works once, within ${lifetimes[purpose]}. ${passedOn}`,
  }
}

export const user = { create, reset, list }
