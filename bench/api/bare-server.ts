// The minimum that Node can do for the same response: node:http in a separate process. The parent sends the bytes.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface BareAnswer {
  status: number
  headers: [name: string, value: string][]
  body: string
}

process.once('message', ({ status, headers, body }: BareAnswer) => {
  const flat = headers.flat()
  const server = createServer((_request, response) => {
    response.writeHead(status, flat)
    response.end(body)
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
})
process.once('disconnect', () => process.exit())
