// A process that sends events as fast as they are answered, over a few connections that are kept.
import { type Connection, openConnection } from '../tenant/connection.ts'
import { type Kind, requestOf } from './traffic.ts'

export interface Order {
  url: string
  kind: Kind
  domain: string
  requests: number
  eventsPerRequest: number
  /** The sender's own address; with 127.0.0.1, a trusted proxy, each request's X-Forwarded-For counts. */
  from: string
  /** What was over a limit is sent again until it is taken. */
  isPatient: boolean
}

export type Answers = Record<string, number>

const lanes = 16
const patienceMs = 200

process.once('message', async (order: Order) => {
  const answers: Answers = {}
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
