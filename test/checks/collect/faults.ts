// Faults under load, each with its own site and ledger: at the end every acknowledged event is there, once.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import type { Random } from '../../support/random.ts'
import { type Check, pause } from '../runner.ts'
import { type Comparison, compare } from './compare.ts'
import type { Installation } from './installation.ts'
import { type Ledger, startLoad } from './load.ts'

const lanes = 16
/** Short enough that a request is always running, long enough to leave the machine some time. */
const pauseMs = 5

async function under(
  check: Check,
  installation: Installation,
  what: string,
  harm: (ledger: Ledger) => Promise<void>,
  times = 1,
): Promise<Comparison & { refused: number; broken: number }> {
  const site = await installation.newSite()
  const load = startLoad({ url: installation.collector.url, domain: site.domain, lanes, pauseMs, times })
  await pause(1_000)
  await harm(load.ledger)
  await pause(1_000)
  const ledger = await load.stop()
  const comparison = await compare(check, installation, what, site, ledger)
  return { ...comparison, refused: ledger.refused, broken: ledger.broken }
}

/** A client that sends every request twice with the same ids. */
export const repeated = (check: Check, installation: Installation) =>
  under(check, installation, 'every request twice', () => pause(2_000), 2)

/** Kills collector, shipper and ClickHouse in turn. */
export function killed(check: Check, installation: Installation, rounds: number, random: Random) {
  const victims = ['collector', 'shipper', 'ClickHouse'] as const
  return under(check, installation, `${rounds} kills`, async () => {
    for (let round = 0; round < rounds; round++) {
      const victim = victims[round % victims.length]
      await pause(200 + random.below(1_300))
      if (victim === 'collector') {
        await installation.collector.kill()
        await installation.startCollector()
      } else if (victim === 'shipper') {
        const pid = await eventually(async () => {
          const found = installation.collector.shipperPid()
          if (!found || !existsSync(`/proc/${found}`)) throw new Error('No shipper is running')
          return found
        })
        process.kill(pid, 'SIGKILL')
      } else {
        await installation.killClickHouse()
        await installation.startClickHouseServer()
      }
      check.say(`kill ${round + 1} of ${rounds}: ${victim}`)
    }
  })
}

export const clickhouseDown = (check: Check, installation: Installation, seconds: number) =>
  under(check, installation, `ClickHouse down ${seconds} s`, async () => {
    await installation.killClickHouse()
    await pause(seconds * 1000)
    await installation.startClickHouseServer()
  })

const diskBytes = 24 * 1024 * 1024

/** The spool is on a disk of 24 MB. Another program fills it to the last byte and later frees the space. */
export async function diskFull(check: Check, installation: Installation) {
  const disk = mkdtempSync(join(tmpdir(), 'footfall-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', disk])
  check.onEnd(() => {
    execFileSync('umount', ['-l', disk])
    rmdirSync(disk)
  })
  await installation.collector.stop()
  await installation.startCollector({ spoolFolder: join(disk, 'spool') })
  let resumedMs = Number.NaN
  const filler = join(disk, 'filler')
  const result = await under(check, installation, 'disk full', async (ledger) => {
    await installation.killClickHouse() // so that nothing leaves the spool meanwhile
    const { bavail, bsize } = statfsSync(disk)
    try {
      writeFileSync(filler, Buffer.alloc(bavail * bsize + 1_000_000, 1))
    } catch {
      // the disk is full now
    }
    await grows(() => ledger.refused, 20_000)
    await pause(2_000)
    await installation.startClickHouseServer()
    rmSync(filler)
    const began = performance.now()
    await grows(() => ledger.acknowledged.size, 20_000)
    resumedMs = Math.round(performance.now() - began)
  })
  if (resumedMs > 5_000) check.slow('disk full', `took events again after ${resumedMs} ms`)
  await installation.collector.stop()
  await installation.startCollector()
  return { ...result, resumedMs }
}

async function grows(count: () => number, timeoutMs: number): Promise<void> {
  const before = count()
  await eventually(async () => {
    if (count() === before) throw new Error(`Still ${before} after ${timeoutMs} ms`)
  }, timeoutMs)
}
