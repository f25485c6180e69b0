// The load generator in a separate process: keep-alive connections, one request at a time on each.
import { openConnection } from '../../test/support/connection.ts'

export interface Load {
  url: string
  request: string
  connections: number
  requests: number
  /** The start of every expected status line. */
  expected: string
}

process.on('message', async ({ url, request, connections, requests, expected }: Load) => {
  const bytes = Buffer.from(request)
  let left = requests
  async function send(): Promise<void> {
    const connection = await openConnection(url)
    while (left-- > 0) {
      const answer = await connection.send(bytes)
      const status = answer.toString('latin1', 0, expected.length)
      if (status !== expected) throw new Error(`${status} instead of ${expected}`)
    }
    connection.close()
  }
  try {
    await Promise.all(Array.from({ length: connections }, send))
    process.send?.({})
  } catch (error) {
    process.send?.({ error: (error as Error).message })
  }
})
process.once('disconnect', () => process.exit())
