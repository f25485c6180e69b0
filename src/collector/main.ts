import { pino } from 'pino'
import { readCollectorConfigOrExit } from '../config.ts'
import { startCollector } from './service.ts'

const config = readCollectorConfigOrExit()
const collector = await startCollector(config, pino({ level: config.LOG_LEVEL }))

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    await collector.stop()
    setTimeout(() => process.exit(), 1_000).unref()
  })
}
