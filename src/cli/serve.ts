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
    const [{ createLog }, { startApi }, { startCollector }, { startFolding }] = await Promise.all([
      import('../process/log.ts'),
      import('../api/service.ts'),
      import('../collector/service.ts'),
      import('../folding/loop.ts'),
    ])
    const { config } = context
    const log = createLog(config.LOG_LEVEL)
    const api = await startApi(config, log)
    const collector = await startCollector(config, log).catch(async (error) => {
      await api.stop(0) // it would keep a process alive that serves nobody
      throw error
    })
    const folding = startFolding(context, log, config.RETENTION_MONTHS)
    const signal = await new Promise((resolve) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve)
    })
    const seconds = signal === 'SIGTERM' ? config.DRAIN_SECONDS : 0
    await Promise.all([api.stop(seconds), collector.stop(seconds), folding.stop()])
    return { data: { stopped: true }, show: () => 'Stopped.' }
  },
}
