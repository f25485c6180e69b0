import { readConfigOrExit } from '../config.ts'
import { createLog } from './log.ts'
import { startApi } from './service.ts'

const config = readConfigOrExit()
const api = await startApi(config, createLog(config.LOG_LEVEL))

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void api.stop())
