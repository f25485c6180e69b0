// The shipper process. The collector starts and restarts it (supervisor.ts).
import { openCluster } from '../../cluster/cluster.ts'
import { readCollectorConfigOrExit } from '../../config/reading.ts'
import { openPostgres } from '../../stores/postgres.ts'
import { createShipper } from './shipper.ts'

const config = readCollectorConfigOrExit()
const cluster = openCluster(config)
const shipper = createShipper({
  cluster,
  connectPostgres: () => openPostgres(config.DATABASE_URL, 2),
  spoolFolder: config.SPOOL_FOLDER,
  send: (message) => process.send?.(message),
  exit: () => process.exit(1),
})

process.once('disconnect', () => process.exit()) // the collector has ended, and the next one starts its own shipper
// Ctrl-C and the SIGTERM of systemd reach the whole process group. The collector, which still answers for a while, decides when this ends.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
process.once('message', shipper.end)

await shipper.run()
await cluster.close()
process.disconnect?.()
