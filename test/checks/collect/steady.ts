// The collector under all the load this machine can generate, next to an endpoint that does nothing: what an event costs, how fast it is
// acknowledged, and when it is in ClickHouse and in the API's responses.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { cpuNanoseconds } from '../../../bench/api/measure.ts'
import { eventually } from '../../support/eventually.ts'
import { type Check, pause, quantile } from '../runner.ts'
import { type Comparison, compare } from './compare.ts'
import type { Installation, Site } from './installation.ts'
import { type Ledger, startLoad } from './load.ts'

const lanes = 64
const maxClickHouseMs = 2_000
const maxApiMs = 10_000

export async function measureSteady(
  check: Check,
  installation: Installation,
  { seconds, maxCpuRatio }: { seconds: number; maxCpuRatio: number },
) {
  const fsyncMs = measureFsync(installation.spoolFolder)
  const site = await installation.newSite()
  const { collector } = installation
  const bare = fork(new URL('bare-endpoint.ts', import.meta.url))
  check.onEnd(() => bare.kill('SIGKILL'))
  const [barePort] = (await once(bare, 'message')) as [number]
  const bareUrl = `http://127.0.0.1:${barePort}`
  const warmUpSite = await installation.newSite()
  for (const url of [bareUrl, collector.url]) await warmUp(url, warmUpSite)

  const probing = probe(installation, seconds)
  const measured = await inTurn(
    { url: bareUrl, pid: bare.pid as number },
    { url: collector.url, pid: collector.pid },
    site,
    seconds,
  )
  bare.kill('SIGKILL')
  const { clickhouseMs, apiMs } = await probing
  const { latencies } = measured.ledger
  const ackMs = { p50: round(quantile(latencies, 0.5)), p99: round(quantile(latencies, 0.99)) }
  const { cpuRatio } = measured
  check.say(
    `collector: ${measured.collectorUs} us of CPU an event, bare ${measured.bareUs}; ${measured.perSecond} a second`,
  )
  if (cpuRatio > maxCpuRatio) check.slow('CPU', `${cpuRatio} times the bare endpoint's`)
  if (clickhouseMs > maxClickHouseMs) check.slow('freshness', `in ClickHouse after ${clickhouseMs} ms (p95)`)
  if (apiMs > maxApiMs) check.slow('freshness', `in the API after ${apiMs} ms (p95)`)
  const comparison: Comparison = await compare(check, installation, 'steady load', site, measured.ledger)
  return {
    perSecond: measured.perSecond,
    ackMs,
    fsyncMs,
    cpu: { collectorUs: measured.collectorUs, bareUs: measured.bareUs, ratio: cpuRatio },
    inClickHouseMsP95: clickhouseMs,
    inApiMsP95: apiMs,
    ...comparison,
  }
}

/** Runs until the measured code is compiled: an event costs twice as much CPU in the first 10,000 of a process. */
async function warmUp(url: string, { domain }: Site): Promise<void> {
  const load = startLoad({ url, domain, lanes })
  const until = performance.now() + 20_000
  while (load.ledger.acknowledged.size < 15_000 && performance.now() < until) await pause(100)
  await load.stop()
}

const roundSeconds = 1.5

/**
 * Alternates between the two, so that other load on the machine affects both. The ratio is the median of all rounds; the ledger covers all
 * rounds of the collector.
 */
async function inTurn(bare: Target, collector: Target, { domain }: Site, seconds: number) {
  const whole: Ledger = { acknowledged: new Set(), visitors: new Set(), latencies: [], refused: 0, broken: 0, odd: [] }
  const rounds: { bareUs: number; collectorUs: number; perSecond: number }[] = []
  for (let round = 0; round * roundSeconds < seconds; round++) {
    const alone = await underLoad(bare, domain)
    const taken = await underLoad(collector, domain)
    rounds.push({ bareUs: alone.cpuUs, collectorUs: taken.cpuUs, perSecond: taken.perSecond })
    for (const id of taken.ledger.acknowledged) whole.acknowledged.add(id)
    for (const visitor of taken.ledger.visitors) whole.visitors.add(visitor)
    for (const latency of taken.ledger.latencies) whole.latencies.push(latency)
    whole.odd.push(...taken.ledger.odd)
  }
  const middle = (of: (one: (typeof rounds)[number]) => number) => round(quantile(rounds.map(of), 0.5))
  return {
    ledger: whole,
    bareUs: middle(({ bareUs }) => bareUs),
    collectorUs: middle(({ collectorUs }) => collectorUs),
    cpuRatio: middle(({ bareUs, collectorUs }) => collectorUs / bareUs),
    perSecond: Math.max(...rounds.map(({ perSecond }) => perSecond)),
  }
}

interface Target {
  url: string
  pid: number
}

async function underLoad({ url, pid }: Target, domain: string) {
  const load = startLoad({ url, domain, lanes })
  const before = cpuNanoseconds(pid)
  const began = performance.now()
  await pause(roundSeconds * 1000)
  const ledger = await load.stop()
  const events = ledger.acknowledged.size
  return {
    ledger,
    cpuUs: (cpuNanoseconds(pid) - before) / 1000 / events,
    perSecond: Math.round(events / ((performance.now() - began) / 1000)),
  }
}

/** Sends events to a quiet site, one after the other, and measures when each is in ClickHouse and in a response. */
async function probe({ newSite, collector, ask, api }: Installation, seconds: number) {
  const site = await newSite()
  const [stored, answered]: [number[], number[]] = [[], []]
  const until = performance.now() + seconds * 1000
  for (let number = 0; performance.now() < until; number++) {
    const name = `probe ${number} ${randomUUID()}`
    const response = await collector.post({ n: name, u: `https://${site.domain}/`, d: site.domain })
    if (response.status !== 202) throw new Error(`A probe got ${response.status}`)
    const began = performance.now()
    await eventually(async () => {
      const [row] = await ask(`SELECT count() FROM events WHERE site_id = '${site.id}' AND name = '${name}'`)
      if (row?.[0] !== '1') throw new Error('A probe is not in ClickHouse')
    }, 30_000)
    stored.push(performance.now() - began)
    await eventually(async () => {
      const answer = await fetch(`${api.url}/api/v1/stats/events?range=24h&limit=100`, {
        headers: { Authorization: `Bearer ${site.key}` },
      })
      if (!(await answer.text()).includes(name)) throw new Error('A probe is not in the API')
    }, 30_000)
    answered.push(performance.now() - began)
  }
  return { clickhouseMs: Math.round(quantile(stored, 0.95)), apiMs: Math.round(quantile(answered, 0.95)) }
}

/** Times of fsync for one block on the disk of the spool: an acknowledgement waits for that. */
function measureFsync(folder: string): { p50: number; p99: number } {
  const path = join(folder, 'fsync')
  const file = openSync(path, 'w')
  const block = Buffer.alloc(4096, 1)
  const times = Array.from({ length: 100 }, () => {
    const began = performance.now()
    writeSync(file, block)
    fdatasyncSync(file)
    return performance.now() - began
  })
  closeSync(file)
  rmSync(path)
  return { p50: round(quantile(times, 0.5)), p99: round(quantile(times, 0.99)) }
}

const round = (value: number): number => Math.round(value * 100) / 100
