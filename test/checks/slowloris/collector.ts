// Slow clients against the collector, from one address and from many. Every honest hit is accepted, each over its own connection like
// another visitor's, and the median takes at most three times as long as before in the same run, or 30 ms.
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { browserAgent, startCollectorProcess } from '../../support/collector-process.ts'
import { type Check, pause, quantile } from '../runner.ts'
import type { Target } from './api.ts'
import { figures, judge, measure, round2, startAttack, summary } from './attack.ts'

const baselineMs = 2_500
const pauseMs = 20
const maxRatio = 3
/** A busy collector serves everybody in turn, and nobody notices a delay this short. */
const unnoticedMs = 30
/** Twenty times the connections allowed per address fill the 4,000 of the collector. */
const addresses = Array.from({ length: 20 }, (_, at) => `127.0.1.${at + 1}`)
const attacks = { 'one address': ['127.0.0.2'], 'many addresses': addresses }

export async function attackCollector(check: Check, stores: Target) {
  const domain = `${randomUUID()}.example`
  const accountId = await createAccount(stores.postgres, { name: 'Slow', plan: 'Free' })
  await createSite(stores.postgres, { accountId, domain })
  const { postgres, clickhouse } = stores.addresses
  // There is no proxy here: each address of this machine is a visitor. The honest one sends many hits.
  const environment = { TRUSTED_PROXIES: '192.0.2.1', EVENTS_PER_SECOND_PER_ADDRESS: '0' }
  const collector = await startCollectorProcess({ postgres, clickhouse }, { environment, serve: stores.serve })
  check.onEnd(() => collector.kill())
  const client = honestVisitor(Number(new URL(collector.url).port), domain)
  for (let count = 0; count < 50; count++) await client.hit()
  const results: Record<string, unknown> = {}
  for (const [name, from] of Object.entries(attacks)) {
    results[name] = await underSlowSenders(check, client, { name, from, sockets: stores.sockets })
  }
  const closedFor = (reason: string) => collector.metric(`footfall_connections_closed_total{reason="${reason}"}`)
  results.closedFor = { address: await closedFor('address'), full: await closedFor('full') }
  client.judge(check)
  await collector.stop()
  return { ...results, answers: client.answers }
}

export type HonestVisitor = ReturnType<typeof honestVisitor>

/** Sends each hit over its own connection, from a separate address. */
export function honestVisitor(port: number, domain: string, localAddress = '127.0.0.3') {
  const answers: Record<string, number> = {}
  return {
    port,
    answers,
    /** Returns how many milliseconds it took. */
    async hit(): Promise<number> {
      const began = performance.now()
      const status = await sendHit(port, localAddress, { n: 'pageview', u: `https://${domain}/`, d: domain })
      answers[status] = (answers[status] ?? 0) + 1
      return performance.now() - began
    },
    judge(check: Check): void {
      if (Object.keys(answers).some((status) => status !== '202')) {
        check.fault('collector: every honest hit is answered 202', JSON.stringify(answers))
      }
    },
  }
}

/** Sends honest hits alone, and then beside slow senders until the last of those is closed. */
export async function underSlowSenders(
  check: Check,
  { port, hit }: HonestVisitor,
  { name, from, sockets }: { name: string; from: readonly string[]; sockets: number },
) {
  const before = await measure(hit, pause(baselineMs), pauseMs)
  const attack = startAttack(check, { target: 'collector', port, key: '', sockets, from })
  const during = await measure(hit, attack, pauseMs)
  const closed = await attack
  const target = `collector, slow senders of ${name}`
  check.say(`${target}: ${summary(closed)}; honest ${figures(before)} before, ${figures(during)} during`)
  judge(check, closed, { target, opened: sockets, closedWithinMs: 12_500, goodbye: /^HTTP\/1\.1 (4\d\d|503) / })
  const ratio = judgeRatio(check, target, before, during)
  return {
    closed: closed.length,
    slowestCloseMs: Math.round(Math.max(...closed.map(({ afterMs }) => afterMs))),
    honest: { before: before.length, during: during.length },
    p50Ms: { before: round2(quantile(before, 0.5)), during: round2(quantile(during, 0.5)), ratio },
  }
}

export function judgeRatio(check: Check, target: string, before: number[], during: number[]): number {
  const ratio = round2(quantile(during, 0.5) / quantile(before, 0.5))
  if (!(ratio <= maxRatio) && !(quantile(during, 0.5) <= unnoticedMs)) {
    check.slow(
      `${target}: honest hits at most ${maxRatio} times as slow, or ${unnoticedMs} ms`,
      `${figures(before)} before, ${figures(during)} during`,
    )
  }
  return ratio
}

function sendHit(port: number, localAddress: string, event: object): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const sent = request({
    ...{ port, host: '127.0.0.1', localAddress, agent: false, method: 'POST', path: '/api/event' },
    headers: { 'User-Agent': browserAgent, Connection: 'close' },
    timeout: 5_000,
  })
  sent.on('response', (response) => {
    response.resume()
    response.on('end', () => resolve(`${response.statusCode}`))
  })
  sent.on('timeout', () => sent.destroy())
  sent.on('error', () => resolve('broken'))
  sent.end(JSON.stringify(event))
  return promise
}
