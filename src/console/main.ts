import { readConfigOrExit } from '../config/reading.ts'
import { exitWith } from '../process/error-hints.ts'
import { createLog } from '../process/log.ts'
import { startConsole } from './service.ts'

const config = readConfigOrExit()
const log = createLog(config.LOG_LEVEL)
const console = await startConsole(config, log).catch(exitWith)

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    await console.stop(signal === 'SIGTERM' ? config.DRAIN_SECONDS : 0)
    setTimeout(() => process.exit(), 1_000).unref() // a slow reader of the log must not keep the process alive
  })
}
