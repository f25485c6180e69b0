import { createServer, type Server } from 'node:http'
import { closeServer, type ListenAddress, listen } from '../process/listening.ts'
import type { Context } from './command.ts'

interface Port extends ListenAddress {
  path: string
  /** What Footfall answers there. */
  sign: string
}

/** For `footfall doctor`: whether `footfall serve` can listen, or already does. Throws the reason why it cannot. */
export async function portsState({
  config: { HOST, PORT, METRICS_HOST, METRICS_PORT, COLLECTOR_METRICS_PORT },
}: Context): Promise<{ state: 'ok'; found: string }> {
  const metrics = { host: METRICS_HOST, path: '/metrics', sign: 'footfall_build_info' }
  // In the order in which `serve` opens them: if two settings have the same port, doctor blames the same one as `serve`.
  const ports: Port[] = [
    { ...metrics, port: COLLECTOR_METRICS_PORT, settings: ['METRICS_HOST', 'COLLECTOR_METRICS_PORT'] },
    { ...metrics, port: METRICS_PORT, settings: ['METRICS_HOST', 'METRICS_PORT'] },
    { host: HOST, port: PORT, settings: ['HOST', 'PORT'], path: '/livez', sign: '{"status":"alive"}' },
  ]
  const taken: Server[] = []
  let running: number | undefined
  try {
    for (const one of ports) {
      const server = createServer()
      try {
        await listen(server, one)
        taken.push(server)
      } catch (error) {
        if (taken.some((other) => isOn(other, one.port)) || !(await isFootfall(one))) throw error
        running = one.port
      }
    }
  } finally {
    taken.forEach(closeServer)
  }
  const all = ports.map(({ port }) => port).toReversed()
  return { state: 'ok', found: running ? `Footfall runs on port ${running}` : `${all.join(', ')} are free` }
}

const isOn = (server: Server, port: number): boolean => {
  const address = server.address()
  return typeof address === 'object' && address?.port === port
}

async function isFootfall({ host, port, path, sign }: Port): Promise<boolean> {
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`
  const answer = await fetch(address, { signal: AbortSignal.timeout(2_000) }).then(
    (response) => response.text(),
    () => '',
  )
  return answer.includes(sign)
}
