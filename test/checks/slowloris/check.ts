// S3: thousands of connections that send a byte at a time, half a line, nothing, or a body that never ends. Each must be closed
// within 8 s of being opened, everything they held must be given back, and honest requests must not notice.
//   npm run check:slowloris -- --sockets 5000
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { startApiProcess } from '../../support/api-process.ts'
import { connect, createStores, disconnect, keySecrets } from '../../support/stores.ts'
import { type Check, pause, quantile, runCheck } from '../fuzz/runner.ts'
import type { Closed, Order } from './attacker.ts'

const closedWithinMs = 8_000
const rounds = 2
const baselineMs = 4_000
const mostPerProcess = 2_500
/** A hundredth of a second between two: some 25 a second with the answers, far from what one key may ask in an hour. */
const pauseMs = 10

await runCheck(
  { name: 'slowloris', size: { option: 'sockets', default: 500 }, seconds: (sockets) => 90 + sockets / 50 },
  async (check) => {
    const stores = await createStores()
    check.onEnd(stores.remove)
    const connected = connect(stores.addresses)
    check.onEnd(() => disconnect(connected))
    const accountId = await createAccount(connected.postgres, { name: 'Slow', plan: 'Agency' })
    const siteId = await createSite(connected.postgres, { accountId, domain: 'slow.example' })
    const key = await createKey(connected.postgres, keySecrets, { accountId, siteId, name: 'Slow' })
    // Without Redis: what is measured is the HTTP side.
    const api = await startApiProcess({ postgres: stores.addresses.postgres, clickhouse: stores.addresses.clickhouse })
    check.onEnd(api.stop)

    const port = Number(new URL(api.url).port)
    const ask = honestClient(port, key.text)
    const fds = () => readdirSync(`/proc/${api.pid}/fd`).length
    for (let count = 0; count < 50; count++) await ask()
    const base = fds()
    const before: number[] = []
    const during: number[] = []
    const closed: Closed[] = []
    for (let round = 1; round <= rounds; round++) {
      before.push(...(await measure(ask, pause(baselineMs))))
      const attack = startAttack(check, { port, key: key.text, sockets: check.n })
      during.push(...(await measure(ask, attack)))
      closed.push(...(await attack))
      await pause(1_500)
      const left = fds() - base
      if (left > 2) check.fault('descriptors', `${left} more than the ${base} before`)
      check.say(`round ${round}: ${summary(closed)}; honest ${figures(before)} before, ${figures(during)} during`)
    }

    judge(check, closed)
    const ratio = quantile(during, 0.5) / quantile(before, 0.5)
    if (!(ratio <= 2)) check.fault('honest requests', `median ${figures(before)} before, ${figures(during)} during`)
    return {
      opened: check.n * rounds,
      closed: closed.length,
      slowestCloseMs: Math.round(Math.max(...closed.map(({ afterMs }) => afterMs))),
      honest: { before: before.length, during: during.length },
      p50Ms: { before: round2(quantile(before, 0.5)), during: round2(quantile(during, 0.5)), ratio: round2(ratio) },
      p99Ms: { before: round2(quantile(before, 0.99)), during: round2(quantile(during, 0.99)) },
      fds: { base, after: fds() },
    }
  },
)

function judge(check: Check, closed: readonly Closed[]): void {
  for (const kind of new Set(closed.map((one) => one.kind))) {
    const late = closed.filter((one) => one.kind === kind && one.afterMs > closedWithinMs)
    if (late.length === 0) continue
    const worst = Math.max(...late.map(({ afterMs }) => afterMs))
    check.fault(
      `not closed in time: ${kind}`,
      `${late.length} sockets, the last after ${Math.round(worst)} ms or never`,
    )
  }
  const missing = check.n * rounds - closed.length
  if (missing > 0) check.fault('sockets lost by the check', `${missing}`)
  const strange = closed.filter(({ got }) => got !== '' && !/^HTTP\/1\.1 (2\d\d|4\d\d) /.test(got))
  if (strange.length > 0) check.fault('strange goodbye', JSON.stringify(strange[0]))
}

/** Requests one after the other on one connection, answered from the engine, for as long as the other thing takes. */
async function measure(ask: () => Promise<number>, until: Promise<unknown>): Promise<number[]> {
  const taken: number[] = []
  let over = false
  void until.then(
    () => {
      over = true
    },
    () => {
      over = true
    },
  )
  while (!over) {
    taken.push(await ask())
    await pause(pauseMs)
  }
  return taken
}

function honestClient(port: number, key: string): () => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return async () => {
    const began = performance.now()
    const [response] = await once(
      get({
        port,
        host: '127.0.0.1',
        path: '/api/v1/stats/overview',
        agent,
        headers: { Authorization: `Bearer ${key}` },
      }),
      'response',
    )
    response.resume()
    await once(response, 'end')
    if (response.statusCode !== 200) throw new Error(`An honest request was answered with ${response.statusCode}`)
    return performance.now() - began
  }
}

/** In processes of their own: their timers would delay the honest client, and one process may not have the descriptors. */
async function startAttack(check: Check, order: Order): Promise<Closed[]> {
  const processes = Math.ceil(order.sockets / mostPerProcess)
  const each = Array.from({ length: processes }, async (_, at) => {
    const sockets = Math.floor(order.sockets / processes) + (at < order.sockets % processes ? 1 : 0)
    const child = fork(new URL('attacker.ts', import.meta.url))
    check.onEnd(() => child.kill('SIGKILL'))
    child.send({ ...order, sockets } satisfies Order)
    const [closed] = (await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [[]])])) as [Closed[]]
    child.kill('SIGKILL')
    return closed
  })
  return (await Promise.all(each)).flat()
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}

function figures(values: readonly number[]): string {
  return `p50 ${round2(quantile(values, 0.5))} p99 ${round2(quantile(values, 0.99))} ms`
}

function summary(closed: readonly Closed[]): string {
  const last = Math.max(...closed.map(({ afterMs }) => afterMs))
  return `${closed.length} closed, the last after ${Math.round(last)} ms`
}
