import { pino } from 'pino'
import { readConfigOrExit } from '../config.ts'
import { startApi } from './service.ts'

const config = readConfigOrExit()
const api = await startApi(config, pino({ level: config.LOG_LEVEL }))

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void api.stop())
