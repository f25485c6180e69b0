// A TCP proxy with network faults on demand. The server behind it stays untouched.
import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

interface Fault {
  /** Delays every chunk from the server by this long. */
  latencyMs?: number
  /** Accepts connections and bytes and forwards nothing. */
  blackHole?: boolean
  /** Resets new connections, and open ones at once. */
  reset?: boolean
  /** Accepts connections and closes them without sending anything. */
  hangUp?: boolean
  /** Cuts a connection after this many bytes from the server. */
  cutAfterBytes?: number
  /** Forwards responses in pieces of this size. */
  sliceBytes?: number
}

export interface FaultProxy {
  port: number
  /** The number of connections accepted so far. */
  accepted(): number
  /** Replaces the current fault; `{}` is a healthy network. */
  setFault(fault: Fault): void
  close(): Promise<void>
}

export async function startFaultProxy(target: { host?: string; port: number }): Promise<FaultProxy> {
  let fault: Fault = {}
  const open = new Set<Socket>()
  let accepted = 0

  const server = createServer((client) => {
    accepted++
    track(client)
    if (fault.reset) return void client.resetAndDestroy()
    if (fault.hangUp) return void client.end()
    const upstream = createConnection({ host: target.host ?? '127.0.0.1', port: target.port })
    track(upstream)
    let sent = 0
    client.on('data', (chunk) => {
      if (!fault.blackHole) upstream.write(chunk)
    })
    let earlier: Promise<unknown> = Promise.resolve()
    upstream.on('data', async (chunk: Buffer) => {
      if (fault.blackHole) return
      // Even when the fault ends meanwhile: TCP delays bytes but never reorders them.
      const delay = fault.latencyMs && new Promise((resolve) => setTimeout(resolve, fault.latencyMs))
      earlier = Promise.all([earlier, delay])
      await earlier
      const room = (fault.cutAfterBytes ?? Number.POSITIVE_INFINITY) - sent
      const piece = chunk.subarray(0, Math.max(0, room))
      sent += piece.length
      const step = fault.sliceBytes ?? (piece.length || 1)
      for (let from = 0; from < piece.length; from += step) client.write(piece.subarray(from, from + step))
      if (piece.length < chunk.length) client.resetAndDestroy()
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => (fault.blackHole ? undefined : client.end()))
  })

  function track(socket: Socket): void {
    open.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    setFault(next) {
      fault = next
      if (next.hangUp) for (const socket of open) socket.end()
      if (next.reset) for (const socket of open) socket.resetAndDestroy()
    },
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}
