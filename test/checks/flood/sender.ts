// A process that sends events as fast as it gets responses, over a few keep-alive connections.
import { type Connection, openConnection } from '../../support/connection.ts'
import { type Kind, requestOf } from './traffic.ts'

export interface Order {
  url: string
  kind: Kind
  domain: string
  requests: number
  eventsPerRequest: number
  /** The sender's own address. With 127.0.0.1, a trusted proxy, the X-Forwarded-For of each request counts. */
  from: string
  /** Sends events over a limit again until they are accepted. */
  isPatient: boolean
}

export type AnswerCounts = Record<string, number>

const lanes = 16
const patienceMs = 200

process.once('message', async (order: Order) => {
  const answers: AnswerCounts = {}
  let next = 0
  async function lane(): Promise<void> {
    let connection: Connection | undefined
    while (next < order.requests) {
      const request = requestOf(order.kind, order.domain, next++, order.eventsPerRequest)
      for (;;) {
        let status = 'broken'
        try {
          connection ??= await openConnection(order.url, order.from)
          status = (await connection.send(request)).toString('latin1', 9, 12)
        } catch {
          connection?.close()
          connection = undefined
        }
        answers[status] = (answers[status] ?? 0) + 1
        if (status === '202' || !order.isPatient) break
        await new Promise((resolve) => setTimeout(resolve, patienceMs))
      }
    }
    connection?.close()
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  process.send?.(answers)
})
