// How a process begins to listen and how it stops, the same for the API and the collector.
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { HintedError } from './error-hints.ts'

/** For whoever sends a request on an idle connection at the moment it is closed. */
const graceMs = 1_000

export interface Place {
  host: string
  port: number
  /** The variables of the configuration that say so. */
  settings: readonly [host: string, port: string]
}

/** Returns when the server listens; throws an error that names the setting to change. */
export async function listen(server: Server, place: Place): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(place.port, place.host, resolve)
  await promise.catch(cannotListen(place))
  server.off('error', reject)
}

/** To be thrown instead of what `listen` of a server failed with. */
export const cannotListen =
  ({ host, port, settings: [hostSetting, portSetting] }: Place) =>
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
        `Set ${portSetting} to a port from 1024 on, and let a proxy listen on port ${port}.`,
      )
    }
    throw new HintedError(
      `The process cannot listen on ${host} (${error.message}).`,
      `Set ${hostSetting} to an address of this machine, such as 127.0.0.1 or 0.0.0.0.`,
    )
  }

export interface Draining {
  /** How long it goes on taking connections, so that load balancers see /readyz answer 503 before anybody is refused. */
  seconds: number
  /** How long requests that are under way may take after that. */
  longestMs: number
  close(): Promise<unknown>
}

/** Goes on answering for some seconds, then accepts nobody any more and answers what is under way and what is on its way. */
export async function drain(server: Server, { seconds, longestMs, close }: Draining): Promise<void> {
  await sleep(seconds * 1000)
  const closeIdle = server.closeIdleConnections.bind(server)
  // Node would close idle connections at once, and with them the requests that are on their way on them.
  server.closeIdleConnections = () => void setTimeout(closeIdle, graceMs)
  const tooSlow = setTimeout(() => server.closeAllConnections(), longestMs)
  await close()
  clearTimeout(tooSlow)
}

/** At once, with every connection. */
export function closeServer(server: Server): void {
  server.close()
  server.closeAllConnections()
}
