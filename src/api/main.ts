import cluster from 'node:cluster'
import { readConfigOrExit } from '../config.ts'
import { exitWith } from '../process/error-hints.ts'
import { createLog } from '../process/log.ts'
import { answerSupervisor, superviseProcesses } from './processes.ts'
import { startApi } from './service.ts'

const config = readConfigOrExit()
const log = createLog(config.LOG_LEVEL)
const isSupervisor = config.API_PROCESSES > 1 && cluster.isPrimary
if (cluster.isWorker) answerSupervisor()
const api = isSupervisor ? superviseProcesses(config, log) : await startApi(config, log).catch(exitWith)

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    // Whoever presses Ctrl-C has no load balancer that is to notice first.
    await api.stop(signal === 'SIGTERM' ? config.DRAIN_SECONDS : 0)
    cluster.worker?.disconnect()
    setTimeout(() => process.exit(), 1_000).unref() // not to wait for somebody to read the last lines of the log
  })
}
