// The minimum a collector could do: reads the body, parses the JSON and discards it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    response.statusCode = JSON.parse(Buffer.concat(chunks).toString()).n === 'pageview' ? 202 : 400
    response.setHeader('Content-Type', 'application/json; charset=utf-8')
    response.end('{"accepted":1}')
  })
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit())
