import { readCollectorConfigOrExit } from '../config/reading.ts'
import { exitWith } from '../process/error-hints.ts'
import { createLog } from '../process/log.ts'
import { startCollector } from './service.ts'

const config = readCollectorConfigOrExit()
const collector = await startCollector(config, createLog(config.LOG_LEVEL)).catch(exitWith)

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    // After Ctrl-C there is no load balancer to wait for.
    await collector.stop(signal === 'SIGTERM' ? config.DRAIN_SECONDS : 0)
    setTimeout(() => process.exit(), 1_000).unref()
  })
}
