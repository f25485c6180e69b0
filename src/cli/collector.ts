import { forgetCollector, listCollectors } from '../moving/collectors.ts'
import { type Command, CommandError, positionals } from './command.ts'

const list: Command = {
  summary: 'Show the collectors that may have events in their spool, and when each was last seen',
  usage: '',
  async run(input, { postgres }) {
    positionals(input, [])
    const collectors = await listCollectors(postgres)
    return {
      data: collectors,
      show: (terminal) =>
        collectors.length === 0
          ? 'No collector is running.'
          : terminal.table(
              ['ID', 'HOST', 'SHARDS', 'LAST SEEN'],
              collectors.map(({ id, host, shards, seenAt }) => [id, host, `${shards}`, seenAt.toISOString()]),
            ),
    }
  },
}

const forget: Command = {
  summary: 'Forget a collector whose spool is lost, so that sites can move without it',
  usage: '<id> --yes',
  options: { yes: { type: 'boolean' } },
  optionHelp: { yes: 'confirm that its spool is lost: events in it could later be written to the wrong shard' },
  async run(input, { postgres }) {
    const [id] = positionals(input, ['id']) as [string]
    if (!input.options.yes)
      throw new CommandError(
        'If this collector still has a spool, its events of sites that have moved would be lost.',
        'To confirm that its spool is lost, repeat it with --yes.',
      )
    if (!(await forgetCollector(postgres, id)))
      throw new CommandError(`There is no collector ${id}.`, 'See them all with: footfall collector list')
    return { data: { id, forgotten: true }, show: () => `Forgot ${id}.` }
  },
}

export const collector = { list, forget }
