// Slow clients against the API: each is disconnected within 8 s, and honest requests take at most twice as long.
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { startApiProcess } from '../../support/api-process.ts'
import { keySecrets, type Stores } from '../../support/stores.ts'
import { type Check, pause, quantile } from '../runner.ts'
import { figures, judge, measure, round2, startAttack, summary } from './attack.ts'
import type { Closed } from './attacker.ts'

const baselineMs = 2_500
/** 10 ms between two requests: about 25 per second with the responses, far below the hourly limit of one key. */
const pauseMs = 10

export interface Target extends Pick<Stores, 'postgres' | 'addresses'> {
  /** Whether all processes share one port. */
  serve: boolean
  /** Connections of an attack. */
  sockets: number
}

export async function attackApi(check: Check, { postgres, addresses, serve, sockets }: Target, rounds: number) {
  const accountId = await createAccount(postgres, { name: 'Slow', plan: 'Agency' })
  const siteId = await createSite(postgres, { accountId, domain: 'slow.example' })
  const key = await createKey(postgres, keySecrets, { accountId, siteId, name: 'Slow' })
  // Without Redis, because this measures HTTP.
  const api = await startApiProcess(
    { postgres: addresses.postgres, clickhouse: addresses.clickhouse },
    // All attackers have one address here. With the limit, the process would close most of them at once.
    { CONNECTIONS_PER_ADDRESS: '0' },
    { serve },
  )
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
    before.push(...(await measure(ask, pause(baselineMs), pauseMs)))
    const attack = startAttack(check, { target: 'api', port, key: key.text, sockets, from: ['127.0.0.1'] })
    during.push(...(await measure(ask, attack, pauseMs)))
    closed.push(...(await attack))
    await pause(1_500)
    const left = fds() - base
    if (left > 2) check.fault('API: descriptors', `${left} more than the ${base} before`)
    check.say(`API, round ${round}: ${summary(closed)}; honest ${figures(before)} before, ${figures(during)} during`)
  }

  const opened = sockets * rounds
  judge(check, closed, { target: 'API', opened, closedWithinMs: 8_000, goodbye: /^HTTP\/1\.1 (2\d\d|4\d\d) / })
  const ratio = quantile(during, 0.5) / quantile(before, 0.5)
  if (!(ratio <= 2)) {
    check.slow('API: honest requests at most twice as slow', `${figures(before)} before, ${figures(during)} during`)
  }
  return {
    opened,
    closed: closed.length,
    slowestCloseMs: Math.round(Math.max(...closed.map(({ afterMs }) => afterMs))),
    honest: { before: before.length, during: during.length },
    p50Ms: { before: round2(quantile(before, 0.5)), during: round2(quantile(during, 0.5)), ratio: round2(ratio) },
    p99Ms: { before: round2(quantile(before, 0.99)), during: round2(quantile(during, 0.99)) },
    fds: { base, after: fds() },
  }
}

function honestClient(port: number, key: string): () => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { Authorization: `Bearer ${key}` }
  return async () => {
    const began = performance.now()
    const [response] = await once(
      get({ port, host: '127.0.0.1', path: '/api/v1/stats/overview', agent, headers }),
      'response',
    )
    response.resume()
    await once(response, 'end')
    if (response.statusCode !== 200) throw new Error(`An honest request got ${response.statusCode}`)
    return performance.now() - began
  }
}
