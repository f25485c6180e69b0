import { readConfigOrExit } from '../config.ts'
import { createLog } from './log.ts'
import { startApi } from './service.ts'

const config = readConfigOrExit()
const api = await startApi(config, createLog(config.LOG_LEVEL))

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    await api.stop()
    setTimeout(() => process.exit(), 1_000).unref() // not to wait for somebody to read the last lines of the log
  })
}
