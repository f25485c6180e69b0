import { newId } from '../accounts/ids.ts'
import { kinds } from '../mail/kinds.ts'
import { shortLetter } from '../mail/layout.ts'
import { type ListedMessage, listMessages, type MessageState, messageStates, retryMessages } from '../mail/outbox.ts'
import { mailSettingsOf } from '../mail/settings.ts'
import { connectToMailServer, problemOf } from '../mail/smtp.ts'
import { type Command, CommandError, type Context, positionals, text } from './command.ts'
import type { Terminal } from './terminal.ts'
import { addressOf } from './user.ts'

const maxListed = 200
const unfinished: readonly MessageState[] = ['waiting', 'sending', 'failed', 'in doubt']

const list: Command = {
  summary: 'Show messages that are not sent: waiting, failed, or in doubt',
  usage: '[--state <state>]',
  options: { state: { type: 'string' } },
  optionHelp: { state: `only these: ${messageStates.map((state) => `"${state}"`).join(', ')}` },
  examples: ['footfall mail list', 'footfall mail list --state "in doubt"'],
  async run(input, { postgres }) {
    positionals(input, [])
    const messages = await listMessages(postgres, statesOf(text(input, 'state')), maxListed)
    return {
      data: messages,
      show: (terminal) => (messages.length === 0 ? 'None.' : listText(terminal, messages)),
    }
  },
}

/** What the mail server answered stands below each message: a column would cut it. */
function listText(terminal: Terminal, messages: readonly ListedMessage[]): string {
  const [head, ...lines] = terminal
    .table(
      ['ID', 'TO', 'WHAT', 'STATE', 'QUEUED'],
      messages.map(({ id, recipient, kind, period, state, queuedAt }) => [
        id,
        recipient,
        period ? `${kinds[kind].name} of ${period}` : kinds[kind].name,
        state,
        queuedAt.toISOString().slice(0, 16).replace('T', ' '),
      ]),
    )
    .split('\n')
  const problems = messages.map(({ problem }) => (problem ? [`  ${problem}`] : []))
  return [head, ...lines.flatMap((line, index) => [line, ...(problems[index] ?? [])])].join('\n')
}

const retry: Command = {
  summary: 'Send a message again that failed or is in doubt',
  usage: '<id>, or --all-failed',
  options: { 'all-failed': { type: 'boolean' } },
  optionHelp: {
    'all-failed': 'every message that failed; messages in doubt must be named, because they may have arrived',
  },
  examples: ['footfall mail retry mail_abcdefghijklmnop', 'footfall mail retry --all-failed'],
  async run(input, { postgres }) {
    const ids = input.options['all-failed']
      ? (await listMessages(postgres, ['failed'], 100_000)).map(({ id }) => id)
      : positionals(input, ['id'])
    const retried = await retryMessages(postgres, ids)
    if (retried.length === 0 && !input.options['all-failed']) {
      throw new CommandError(
        `${ids[0]} did not fail and is not in doubt, or its content is gone.`,
        'See: footfall mail list. A message with a link that does not work any more must be made again.',
      )
    }
    return {
      data: { retried },
      show: () =>
        `${retried.length} ${retried.length === 1 ? 'message is' : 'messages are'} sent again within seconds.`,
    }
  },
}

const testMail: Command = {
  summary: 'Send one mail at once, and show what the mail server answers',
  usage: '<email>',
  examples: ['footfall mail test maria@example.com'],
  async run(input, context) {
    const [address] = positionals(input, ['email']) as [string]
    const to = addressOf(address)
    const settings = settingsOf(context)
    const { host, port } = settings.server
    const connection = await connectToMailServer(settings).catch((error: Error) => {
      throw new CommandError(
        `${host}:${port} cannot be used: ${problemOf(error)}`,
        'Check SMTP_URL: smtps:// is TLS from the start, smtp:// is STARTTLS, and each has its own port (docs/mail.md).',
      )
    })
    try {
      const letter = shortLetter({
        subject: 'Footfall can send mail',
        title: 'It works',
        paragraphs: [`${host} has taken this mail from ${settings.from.address}.`],
        footer: 'Somebody who runs this Footfall sent it with: footfall mail test',
      })
      const delivery = await connection.send({ id: newId('mail'), to, letter }, async () => true)
      if (delivery.result !== 'accepted') {
        const answer = 'problem' in delivery ? delivery.problem : ''
        throw new CommandError(
          `The mail server did not take the mail: ${answer}`,
          'Check SMTP_URL and MAIL_FROM (docs/mail.md).',
        )
      }
      return {
        data: { to, accepted: true },
        show: () => `${host} has taken a mail to ${to}. Look whether it arrives.`,
      }
    } finally {
      connection.close()
    }
  },
}

function settingsOf({ config }: Context) {
  const settings = mailSettingsOf(config)
  if (settings) return settings
  throw new CommandError('No mail server is configured.', 'Set SMTP_URL, MAIL_FROM and PUBLIC_URL (docs/mail.md).')
}

function statesOf(name: string | undefined): readonly MessageState[] {
  if (name === undefined) return unfinished
  const state = messageStates.find((one) => one === name)
  if (state) return [state]
  throw new CommandError(`There is no state ${name}.`, `States are: ${messageStates.join(', ')}.`)
}

export const mail = { list, retry, test: testMail }
