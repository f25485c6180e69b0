import cluster from 'node:cluster'
import { readConfigOrExit } from '../config/reading.ts'
import { exitWith } from '../process/error-hints.ts'
import { createLog } from '../process/log.ts'
import { startApi } from './service.ts'
import { answerSupervisor, superviseProcesses } from './worker-supervisor.ts'

const config = readConfigOrExit()
const log = createLog(config.LOG_LEVEL)
const isSupervisor = config.API_PROCESSES > 1 && cluster.isPrimary
if (cluster.isWorker) answerSupervisor()
const api = isSupervisor ? superviseProcesses(config, log) : await startApi(config, log).catch(exitWith)

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    // After Ctrl-C no load balancer has to notice the shutdown first.
    await api.stop(signal === 'SIGTERM' ? config.DRAIN_SECONDS : 0)
    cluster.worker?.disconnect()
    setTimeout(() => process.exit(), 1_000).unref() // a slow reader of the log must not keep the process alive
  })
}
