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
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole process group; the collector decides when the shipper ends
process.once('SIGTERM', shipper.end)

await shipper.run()
await cluster.close()
process.disconnect?.()
