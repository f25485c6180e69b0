// Starts and stops the HTTP server of a process: the API, the collector and the console do it the same way.
import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { HintedError } from './error-hints.ts'

/** Idle connections stay open this long, because a client may just be sending a request on one. */
const graceMs = 1_000

export interface ListenAddress {
  host: string
  port: number
  /** The configuration variables that set host and port. */
  settings: readonly [host: string, port: string]
}

/** Returns when the server listens; throws an error that names the setting to change. */
export async function listen(server: Server, address: ListenAddress): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(address.port, address.host, resolve)
  await promise.catch(cannotListen(address))
  server.off('error', reject)
}

/** Throws what `listen` would throw, and leaves the port free. */
export async function probe(address: ListenAddress): Promise<void> {
  const server = createServer()
  await listen(server, address)
  closeServer(server)
}

/** Replaces the error of a failed `listen` by one with a hint. */
export const cannotListen =
  ({ host, port, settings: [hostSetting, portSetting] }: ListenAddress) =>
  (error: NodeJS.ErrnoException): never => {
    if (error.code === 'EADDRINUSE') {
      throw new HintedError(
        `Port ${port} on ${host} is in use.`,
        `Stop the process that uses it, or set ${portSetting} to another port.`,
      )
    }
    if (error.code === 'EACCES') {
      throw new HintedError(
        `This user may not listen on port ${port}.`,
        `Set ${portSetting} to 1024 or higher, and let a proxy listen on port ${port}.`,
      )
    }
    throw new HintedError(
      `The process cannot listen on ${host} (${error.message}).`,
      `Set ${hostSetting} to an address of this machine, such as 127.0.0.1 or 0.0.0.0.`,
    )
  }

export interface Draining {
  /** How long the server keeps accepting connections, so that load balancers see the 503 of /readyz before it refuses any. */
  seconds: number
  /** How long running requests may take after that. */
  timeoutMs: number
  close(): Promise<unknown>
}

/** Keeps answering for some seconds, then stops accepting connections and answers the requests that are running or arriving. */
export async function drain(server: Server, { seconds, timeoutMs, close }: Draining): Promise<void> {
  await sleep(seconds * 1000)
  const closeIdle = server.closeIdleConnections.bind(server)
  // Node would close idle connections at once and lose the requests that are just arriving on them.
  server.closeIdleConnections = () => void setTimeout(closeIdle, graceMs)
  const tooSlow = setTimeout(() => server.closeAllConnections(), timeoutMs)
  await close()
  clearTimeout(tooSlow)
}

/** Closes the server and all its connections at once. */
export function closeServer(server: Server): void {
  server.close()
  server.closeAllConnections()
}
