// Runs calls of the client in Node and in Chromium, so that every test makes the same calls in both.
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import * as client from '../../packages/client/index.js'
import { atEnd } from '../support/at-end.ts'
import { openBrowser } from '../support/browser.ts'
import type { World } from '../support/world.ts'

export const functionNames = Object.keys(client).filter((name) => name !== 'FootfallError')

export interface Call {
  server: client.Server
  name: string
  parameters?: object
  abortAfterMs?: number
}

interface Outcome {
  // biome-ignore lint/suspicious/noExplicitAny: tests compare whole results with literals
  result?: any
  thrown?: { isFootfallError: boolean; name: string } & Partial<client.FootfallError>
}

type Runner = (call: Call) => Promise<Outcome>

export const runners: Record<string, (test: TestContext) => Promise<Runner>> = {
  Node: async () => (call) => run(client as never, call),
  Chromium: inChromium,
}

/** Playwright sends the text of this function to the browser, so it uses nothing from outside. */
async function run(
  // biome-ignore lint/suspicious/noExplicitAny: functions by name
  functions: any,
  { server, name, parameters, abortAfterMs }: Call,
): Promise<Outcome> {
  const controller = new AbortController()
  if (abortAfterMs === 0) controller.abort()
  else if (abortAfterMs) setTimeout(() => controller.abort(), abortAfterMs)
  try {
    const given = name === 'countries' ? [server] : [server, parameters ?? {}] // the only one without parameters
    return { result: await functions[name](...given, { signal: controller.signal }) }
  } catch (error) {
    const { name, message, code, status, retryAfter, rateLimit, requestId } = error as client.FootfallError
    const isFootfallError = error instanceof functions.FootfallError
    return { thrown: { isFootfallError, name, message, code, status, retryAfter, rateLimit, requestId } }
  }
}

let opened: ReturnType<typeof openBrowser> | undefined

/** One for all tests of a file. */
function browser(): ReturnType<typeof openBrowser> {
  if (!opened) atEnd(async () => (await opened)?.close())
  opened ??= openBrowser()
  return opened
}

async function inChromium(test: TestContext): Promise<Runner> {
  const origin = await serve(test, (request, response) => {
    const [, file] = /^\/(index|request)\.js$/.exec(request.url ?? '') ?? []
    const text = file
      ? readFileSync(new URL(`../../packages/client/${file}.js`, import.meta.url), 'utf8')
      : "<!doctype html><script type=module>import * as all from '/index.js'; globalThis.client = all</script>"
    response.writeHead(200, { 'Content-Type': file ? 'text/javascript' : 'text/html' }).end(text)
  })
  const page = await (await browser()).newPage()
  test.after(() => page.close())
  await page.goto(origin)
  return (call) => page.evaluate(`(${run})(client, ${JSON.stringify(call)})`)
}

/** A server of the test that pages of other origins may read. Returns its address. */
export async function serve(test: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Access-Control-Allow-Headers', 'Authorization')
    response.setHeader('Access-Control-Expose-Headers', 'X-Request-Id')
    if (request.method === 'OPTIONS') response.end()
    else listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const addressOf = ({ port }: { port: number }): string => `http://127.0.0.1:${port}`

export const serverOf = ({ api, key }: World): client.Server => ({ url: addressOf(api), key: key.text })
