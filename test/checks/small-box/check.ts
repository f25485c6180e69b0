// A small machine: ClickHouse with the settings of deploy/clickhouse and 1 GiB of memory rolls up a site of two million events and answers
// queries about it.
//   npm run check:smallbox
//   npm run check:smallbox -- --events 200000 --idle 4     the short form
// Prints the memory of ClickHouse when idle and at its peak. Exits with 1 when a step fails, a response is late or verify finds a
// difference.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { reports } from '../../../src/stats/reports.ts'
import { startApiProcess } from '../../support/api-process.ts'
import { install } from '../../support/installation.ts'
import { late } from '../runner.ts'

const { events, idle: idleSeconds } = parseArgs({
  options: {
    events: { type: 'string', default: '2000000' },
    /** For how many seconds ClickHouse is watched doing nothing. */
    idle: { type: 'string', default: '20' },
  },
}).values
const memory = 2 ** 30
const longestAnswerMs = 2_500
const giveUpMs = 540_000

const began = performance.now()
const say = (text: string) => process.stderr.write(`${Math.round((performance.now() - began) / 1000)} s  ${text}\n`)
setTimeout(() => {
  say('The check exceeds its time limit')
  process.exit(1)
}, giveUpMs).unref()

const short: string[] = []
const slow: string[] = []
const { json, footfall, addresses, clickhousePid, remove } = await install({}, { memory })

/** Memory of the whole process, including the used part of the mapped shared library. */
function megabytes(name: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes] =
    new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${clickhousePid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

/** Percent of one core. */
async function cpuPercent(milliseconds: number): Promise<number> {
  const ticks = () => {
    const fields = readFileSync(`/proc/${clickhousePid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return Number(fields[11]) + Number(fields[12])
  }
  const before = ticks()
  await sleep(milliseconds)
  return Math.round(((ticks() - before) / 100 / (milliseconds / 1000)) * 1000) / 10
}

try {
  say('idle')
  const idle = { cpuPercent: await cpuPercent(Number(idleSeconds) * 1000), megabytes: megabytes('VmRSS') }
  await json('site', 'create', 'small.example', '--timezone', 'Europe/Berlin')
  say(`${events} events`)
  const made = await json('demo', 'small.example', '--events', events)
  say('rolling up')
  const began = performance.now()
  const rolledUp = await json('rollup', 'run', '--site', 'small.example')
  const rollupSeconds = Math.round((performance.now() - began) / 100) / 10
  const verified = await footfall('rollup', 'verify', '--json')
  if (verified.code !== 0) short.push(`verify: ${verified.stdout}${verified.stderr}`.slice(0, 300))
  const { key } = await json('key', 'create', 'small.example')
  const api = await startApiProcess(addresses)
  say('asking')
  let slowestMs = 0
  let answers = 0
  for (const range of ['7d', '30d', '90d', '12m']) {
    for (const report of Object.keys(reports)) {
      const asked = performance.now()
      const response = await fetch(`${api.url}/api/v1/stats/${report}?range=${range}&limit=100`, {
        headers: { Authorization: `Bearer ${key}` },
      })
      await response.text()
      const took = performance.now() - asked
      slowestMs = Math.max(slowestMs, Math.round(took))
      answers++
      if (response.status !== 200) short.push(`${report} ${range} answered ${response.status}`)
      else if (took > longestAnswerMs) slow.push(`${report} ${range} took ${Math.round(took)} ms`)
    }
  }
  await api.stop()
  const result = {
    events: made.events,
    days: rolledUp.days,
    rollupSeconds,
    answers,
    slowestMs,
    memoryLimitMegabytes: memory / 2 ** 20,
    peakMegabytes: megabytes('VmHWM'),
    idle,
    short: [...short, ...slow],
  }
  for (const one of result.short) say(`SHORT ${one}`)
  process.stdout.write(`${JSON.stringify(result)}\n`)
} finally {
  await remove()
}
process.exit(short.length > 0 ? 1 : slow.length > 0 ? late : 0)
