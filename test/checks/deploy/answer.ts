import { type Agent, get } from 'node:http'

/** The answer to a GET; status 0 if there is none. */
export function answerOf(
  url: string,
  agent: Agent,
  headers: Record<string, string>,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const sent = get(url, { agent, headers }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
      response.on('error', (error) => resolve({ status: 0, body: error.message }))
    })
    sent.on('error', (error) => resolve({ status: 0, body: error.message }))
  })
}
