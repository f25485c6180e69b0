import { type ListenAddress, probe } from '../process/listening.ts'
import type { Context } from './command.ts'

/** For `footfall doctor`: whether `footfall serve` can listen, or already does. Throws the reason why it cannot. */
export async function portsState({
  config: { HOST, PORT, METRICS_HOST, METRICS_PORT, COLLECTOR_METRICS_PORT },
}: Context): Promise<{ state: 'ok'; found: string }> {
  const metrics = { host: METRICS_HOST, path: '/metrics', sign: 'footfall_build_info' }
  const addresses: (ListenAddress & { path: string; sign: string })[] = [
    { host: HOST, port: PORT, settings: ['HOST', 'PORT'], path: '/livez', sign: '{"status":"alive"}' },
    { ...metrics, port: METRICS_PORT, settings: ['METRICS_HOST', 'METRICS_PORT'] },
    { ...metrics, port: COLLECTOR_METRICS_PORT, settings: ['METRICS_HOST', 'COLLECTOR_METRICS_PORT'] },
  ]
  let running = ''
  for (const { path, sign, ...address } of addresses) {
    try {
      await probe(address)
    } catch (error) {
      const { host, port } = address
      const answer = await fetch(`http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`, {
        signal: AbortSignal.timeout(2_000),
      }).then(
        (response) => response.text(),
        () => '',
      )
      if (!answer.includes(sign)) throw error
      running ||= `Footfall runs on port ${port}`
    }
  }
  return { state: 'ok', found: running || `${addresses.map(({ port }) => port).join(', ')} are free` }
}
