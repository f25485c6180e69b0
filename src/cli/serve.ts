import { migrate } from '../stores/migrate.ts'
import { type Command, positionals } from './command.ts'

export const serve: Command = {
  summary: 'Run Footfall: API and collector together, right for a small box',
  usage: '[--no-migrate]',
  options: { 'no-migrate': { type: 'boolean' } },
  optionHelp: { 'no-migrate': 'do not bring the databases up to date first' },
  async run(input, context) {
    positionals(input, [])
    if (!input.options['no-migrate']) await migrate(context)
    // Loaded here: every other command would wait a third of a second for them.
    const [{ pino }, { startApi }, { startCollector }, { startFolding }] = await Promise.all([
      import('pino'),
      import('../api/service.ts'),
      import('../collector/service.ts'),
      import('../folding/loop.ts'),
    ])
    const { config } = context
    const log = pino({ level: config.LOG_LEVEL })
    const api = await startApi(config, log)
    const collector = await startCollector(config, log)
    const folding = startFolding(context, log, config.RETENTION_MONTHS)
    await new Promise((resolve) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve)
    })
    await Promise.all([api.stop(), collector.stop(), folding.stop()])
    return { data: { stopped: true }, show: () => 'Stopped.' }
  },
}
