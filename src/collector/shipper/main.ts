// The shipper process. The collector starts and restarts it (supervisor.ts).

// First of all, because everything else takes half a second to load. Ctrl-C and the SIGTERM of systemd reach the whole process group; the
// collector, which still answers for a while, decides when this process ends.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
process.once('disconnect', () => process.exit()) // the collector has ended, and the next one starts its own shipper

const [{ openCluster }, { readCollectorConfigOrExit }, { openPostgres }, { createShipper }] = await Promise.all([
  import('../../cluster/cluster.ts'),
  import('../../config/reading.ts'),
  import('../../stores/postgres.ts'),
  import('./shipper.ts'),
])

const config = readCollectorConfigOrExit()
const cluster = openCluster(config)
const shipper = createShipper({
  cluster,
  connectPostgres: () => openPostgres(config.DATABASE_URL, 2),
  spoolFolder: config.SPOOL_FOLDER,
  send: (message) => process.send?.(message),
  exit: () => process.exit(1),
})

process.once('message', shipper.end)

await shipper.run()
await cluster.close()
process.disconnect?.()
