// A small load balancer: it asks each process every 100 ms at /readyz whether it wants traffic, and sends a request to the next one that
// does. It sends each request once: if that process does not answer, the request has failed. A process that is late to answer /readyz keeps its
// traffic. Real load balancers also wait for several late answers, and on a shared machine everything may stand still for seconds.
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

const askEveryMs = 100
const maxAnswerMs = 1_000

export interface LoadBalancer {
  url: string
  isReady(port: number): boolean
  close(): Promise<void>
}

export async function startLoadBalancer(ports: readonly number[]): Promise<LoadBalancer> {
  const agent = new Agent({ keepAlive: true })
  const ready = new Set<number>()
  let turn = 0
  let isClosed = false

  async function ask(port: number): Promise<void> {
    const signal = AbortSignal.timeout(maxAnswerMs)
    const isReady = await fetch(`http://127.0.0.1:${port}/readyz`, { signal }).then(
      ({ ok }) => ok,
      () => signal.aborted && ready.has(port),
    )
    if (isReady) ready.add(port)
    else ready.delete(port)
  }

  /** One question at a time: of two answers, the older could arrive last. */
  async function askUntilClosed(port: number): Promise<void> {
    for (; !isClosed; await pause(askEveryMs)) await ask(port)
  }

  function pass(from: IncomingMessage, to: ServerResponse): void {
    const port = [...ready][turn++ % ready.size]
    if (port === undefined) return void refuse(to, 'no process is ready')
    const { method, url: path, headers } = from
    const sent = request({ agent, port, host: '127.0.0.1', method, path, headers }, (answer) => {
      const { connection: _hopByHop, ...passed } = answer.headers
      to.writeHead(answer.statusCode ?? 502, passed)
      answer.pipe(to)
      answer.on('error', () => to.destroy())
    })
    sent.on('error', (error) => {
      if (to.headersSent) to.destroy()
      else refuse(to, `port ${port}: ${error.message}`)
    })
    from.pipe(sent)
  }

  const server = createServer({ keepAliveTimeout: 60_000 }, pass)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await Promise.all(ports.map(ask))
  const asking = ports.map(askUntilClosed)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isReady: (port) => ready.has(port),
    async close() {
      isClosed = true
      await Promise.all(asking)
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** With its length, because the clients of the checks read no other body. */
const refuse = (to: ServerResponse, text: string): void =>
  void to.writeHead(502, { 'Content-Length': Buffer.byteLength(text) }).end(text)
