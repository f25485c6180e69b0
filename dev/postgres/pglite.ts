// PGlite in a separate process, so that its work does not block ours. Arguments: data folder, port. It ends when its standard input
// closes.
import { startPGlite } from './pglite-server.ts'

const [folder, port] = process.argv.slice(2) as [string, string]
const server = await startPGlite(Number(port), folder)
process.stdout.write('ready\n')

// Ctrl-C and SIGTERM reach every process of the group, and processes that use PostgreSQL need it a moment longer.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
process.stdin.resume().once('end', async () => {
  await server.close()
  process.exit()
})
