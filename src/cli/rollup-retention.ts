import { verifyLedger } from '../rollups/ledger.ts'
import { clocksDiffer, declareRetention, planRetention } from '../rollups/retention.ts'
import { type Command, CommandError, positionals } from './command.ts'

export const retention: Command = {
  summary: 'Show which old events RETENTION_MONTHS will drop; more than one month needs your confirmation',
  usage: '[--confirm]',
  options: { confirm: { type: 'boolean' } },
  optionHelp: {
    confirm: 'drop them for good; the rollup process does so after 20 minutes or more',
  },
  examples: ['footfall rollup retention', 'footfall rollup retention --confirm'],
  async run(input, context) {
    positionals(input, [])
    await verifyLedger(context)
    const months = context.config.RETENTION_MONTHS
    if (months === undefined)
      throw new CommandError('Events are kept for ever.', 'Set RETENTION_MONTHS to drop old events.')
    const plan = await planRetention(context, { months })
    if (!plan) throw new CommandError(clocksDiffer, 'Set the clocks right and try again.')
    const confirmed = input.options.confirm === true
    if (confirmed) await declareRetention(context.postgres, plan.eventsFrom)
    return {
      data: { ...plan, confirmed },
      show: (terminal) =>
        [
          plan.months.length === 0
            ? `Nothing to confirm: all events before ${plan.eventsFrom} are dropped already or confirmed.`
            : terminal.table(
                ['Month', 'Events', 'Bytes'],
                plan.months.map(({ month, events, bytes }) => [
                  `${month.slice(0, 4)}-${month.slice(4)}`,
                  events.toLocaleString('en'),
                  bytes.toLocaleString('en'),
                ]),
              ),
          '',
          confirmed
            ? `Events are kept from ${plan.eventsFrom} on. The rollup process rolls up older events and then drops them.`
            : `With --confirm, Footfall keeps events from ${plan.eventsFrom} on and drops the older ones.`,
        ].join('\n'),
    }
  },
}
