// PostgreSQL without an installation, for trying Footfall: PGlite behind a real socket.
//
// PGlite has one session for all connections. Messages of two statements must not mix, nor those of two transactions: a connection
// keeps the session until its statement and its transaction have ended. (@electric-sql/pglite-socket 0.2.17 only keeps transactions
// apart, so statements failed with `portal "" does not exist` when several processes of Footfall used it.)
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { PGlite } from '@electric-sql/pglite'

/** Messages of the protocol that are not about a statement; each has its length and then this code. */
const sslRequest = 80_877_103
const cancelRequest = 80_877_102

interface Message {
  from: Socket
  bytes: Buffer
}

export interface PGliteServer {
  close(): Promise<void>
}

/** Without a folder its data is in memory. */
export async function startPGlite(port: number, folder?: string): Promise<PGliteServer> {
  const db = await PGlite.create(folder)
  let waiting: Message[] = []
  let owner: Socket | undefined
  let isBusy = false

  async function work(): Promise<void> {
    if (isBusy) return
    isBusy = true
    for (let message = next(); message; message = next()) {
      const { from, bytes } = message
      owner = from
      await db
        .runExclusive(() => db.execProtocolRawStream(bytes, { onRawData: (data) => void from.write(data) }))
        .catch(() => from.destroy())
      if (endsStatement(bytes) && !db.isInTransaction()) owner = undefined
    }
    isBusy = false
  }

  function next(): Message | undefined {
    const at = owner ? waiting.findIndex(({ from }) => from === owner) : 0
    return at === -1 ? undefined : waiting.splice(at, 1)[0]
  }

  function receive(from: Socket, bytes: Buffer): void {
    if (bytes[0] === letter('X')) return void from.end()
    if (bytes[0] === 0) {
      const code = bytes.readInt32BE(4)
      if (code === sslRequest) return void from.write('N')
      if (code === cancelRequest) return void from.end()
    }
    waiting.push({ from, bytes })
    void work()
  }

  const server = createServer({ noDelay: true }, (socket) => {
    let rest: Buffer = Buffer.alloc(0)
    socket.on('data', (data: Buffer) => {
      rest = Buffer.concat([rest, data])
      for (let length = lengthOf(rest); length > 0 && rest.length >= length; length = lengthOf(rest)) {
        receive(socket, Buffer.from(rest.subarray(0, length)))
        rest = rest.subarray(length)
      }
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      waiting = waiting.filter(({ from }) => from !== socket)
      if (owner !== socket) return
      // Ends what the connection left open: first its statement, then its transaction.
      waiting.push({ from: socket, bytes: Buffer.from('S\0\0\0\x04') })
      waiting.push({ from: socket, bytes: Buffer.from('Q\0\0\0\x0dROLLBACK\0') })
      void work()
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    async close() {
      server.close()
      await db.close()
    },
  }
}

/** A startup (it begins with its length), a simple query or a Sync: PGlite is ready for anybody afterwards. */
const endsStatement = (bytes: Buffer): boolean => [0, letter('Q'), letter('S')].includes(bytes[0] as number)

const letter = (text: string): number => text.charCodeAt(0)

/** Of the first message, or 0 while that is unknown. A message before the startup has no letter in front of its length. */
function lengthOf(bytes: Buffer): number {
  if (bytes.length < 8 && bytes[0] === 0) return 0
  if (bytes.length < 5) return 0
  return bytes[0] === 0 ? bytes.readInt32BE(0) : 1 + bytes.readInt32BE(1)
}
