// The collector under all the load this machine can make, and beside it an endpoint that does nothing: what an event costs, how
// fast it is acknowledged, and when it is in the engine and in the API's answers.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { cpuNanoseconds } from '../../../bench/api/measure.ts'
import { eventually } from '../../support/eventually.ts'
import { type Check, pause, quantile } from '../fuzz/runner.ts'
import { type Comparison, compare } from './compare.ts'
import type { Installation, Site } from './installation.ts'
import { type Ledger, startLoad } from './load.ts'

const lanes = 64
const mostCpuRatio = 3
const mostEngineMs = 2_000
const mostApiMs = 10_000

interface Measured {
  ledger: Ledger
  cpuMicroseconds: number
  perSecond: number
}

export async function measureSteady(check: Check, installation: Installation, seconds: number) {
  const fsyncMs = measureFsync(installation.spoolFolder)
  const site = await installation.newSite()
  const { collector } = installation
  const bare = fork(new URL('bare-endpoint.ts', import.meta.url))
  check.onEnd(() => bare.kill('SIGKILL'))
  const [barePort] = (await once(bare, 'message')) as [number]
  const bareUrl = `http://127.0.0.1:${barePort}`
  const warmUpSite = await installation.newSite()
  for (const url of [bareUrl, collector.url]) await warmUp(url, warmUpSite)

  const measuredBare = await underLoad(bareUrl, bare.pid as number, site, seconds)
  bare.kill('SIGKILL')
  check.say(`bare endpoint: ${measuredBare.cpuMicroseconds} us of CPU an event, ${measuredBare.perSecond} a second`)
  const probing = probe(installation, seconds)
  const measured = await underLoad(collector.url, collector.pid, site, seconds)
  const { engineMs, apiMs } = await probing
  const { latencies } = measured.ledger
  const ackMs = { p50: round(quantile(latencies, 0.5)), p99: round(quantile(latencies, 0.99)) }
  const cpuRatio = round(measured.cpuMicroseconds / measuredBare.cpuMicroseconds)
  check.say(`collector: ${measured.cpuMicroseconds} us, ${measured.perSecond} a second, p99 ${ackMs.p99} ms`)
  if (cpuRatio > mostCpuRatio) check.fault('CPU', `${cpuRatio} times the bare endpoint's`)
  if (engineMs > mostEngineMs) check.fault('freshness', `in the engine after ${engineMs} ms (p95)`)
  if (apiMs > mostApiMs) check.fault('freshness', `in the API after ${apiMs} ms (p95)`)
  const comparison: Comparison = await compare(check, installation, 'steady load', site, measured.ledger)
  return {
    perSecond: measured.perSecond,
    ackMs,
    fsyncMs,
    cpu: { collectorUs: measured.cpuMicroseconds, bareUs: measuredBare.cpuMicroseconds, ratio: cpuRatio },
    inEngineMsP95: engineMs,
    inApiMsP95: apiMs,
    ...comparison,
  }
}

/** Until the code is compiled that will be measured: a process costs twice as much an event in its first 10,000. */
async function warmUp(url: string, { domain }: Site): Promise<void> {
  const load = startLoad({ url, domain, lanes })
  const until = performance.now() + 20_000
  while (load.ledger.acknowledged.size < 15_000 && performance.now() < until) await pause(100)
  await load.stop()
}

async function underLoad(url: string, pid: number, site: Site, seconds: number): Promise<Measured> {
  const load = startLoad({ url, domain: site.domain, lanes })
  const before = cpuNanoseconds(pid)
  const began = performance.now()
  await pause(seconds * 1000)
  const ledger = await load.stop()
  const events = ledger.acknowledged.size
  return {
    ledger,
    cpuMicroseconds: round((cpuNanoseconds(pid) - before) / 1000 / events),
    perSecond: Math.round(events / ((performance.now() - began) / 1000)),
  }
}

/** Events of a quiet site, one after the other: when each is in the engine and in an answer. */
async function probe({ newSite, collector, ask, api }: Installation, seconds: number) {
  const site = await newSite()
  const [engine, answers]: [number[], number[]] = [[], []]
  const until = performance.now() + seconds * 1000
  for (let number = 0; performance.now() < until; number++) {
    const name = `probe ${number} ${randomUUID()}`
    const response = await collector.post({ n: name, u: `https://${site.domain}/`, d: site.domain })
    if (response.status !== 202) throw new Error(`A probe was answered ${response.status}`)
    const began = performance.now()
    await eventually(async () => {
      const [row] = await ask(`SELECT count() FROM events WHERE site_id = '${site.id}' AND name = '${name}'`)
      if (row?.[0] !== '1') throw new Error('A probe is not in the engine')
    }, 30_000)
    engine.push(performance.now() - began)
    await eventually(async () => {
      const answer = await fetch(`${api.url}/api/v1/stats/events?range=24h&limit=100`, {
        headers: { Authorization: `Bearer ${site.key}` },
      })
      if (!(await answer.text()).includes(name)) throw new Error('A probe is not in the API')
    }, 30_000)
    answers.push(performance.now() - began)
  }
  return { engineMs: Math.round(quantile(engine, 0.95)), apiMs: Math.round(quantile(answers, 0.95)) }
}

/** Of one block, on the disk of the spool: what an acknowledgement waits for. */
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
