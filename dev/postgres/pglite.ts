// PostgreSQL without installing one, for trying Footfall: PGlite behind a real socket, in a process of its own so that its work
// does not hold up ours. Arguments: data folder, port. It ends when its standard input does.
import { PGlite } from '@electric-sql/pglite'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'

const [folder, port] = process.argv.slice(2) as [string, string]
const db = await PGlite.create(folder)
// More than the pools of all processes together: one connection too many is refused.
const server = new PGLiteSocketServer({ db, port: Number(port), host: '127.0.0.1', maxConnections: 50 })
await server.start()
process.stdout.write('ready\n')

process.stdin.resume().once('end', async () => {
  await server.stop()
  await db.close()
  process.exit()
})
