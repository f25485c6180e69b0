// A small box: ClickHouse with the settings of deploy/clickhouse and 1 GiB of memory folds a site of two million events and answers about it.
//   npm run check:smallbox
//   npm run check:smallbox -- --events 200000     the short form
// Prints what ClickHouse takes when it is idle and at its peak. Exits 1 when a step fails, an answer is late or verify finds a difference.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { reports } from '../../../src/stats/reports.ts'
import { install } from '../../cli/installation.ts'
import { startApiProcess } from '../../support/api-process.ts'

const { events } = parseArgs({ options: { events: { type: 'string', default: '2000000' } } }).values
const memory = 2 ** 30
const idleMs = 20_000
const longestAnswerMs = 2_500
const giveUpMs = 540_000

const began = performance.now()
const say = (text: string) => process.stderr.write(`${Math.round((performance.now() - began) / 1000)} s  ${text}\n`)
setTimeout(() => {
  say('This takes far too long')
  process.exit(1)
}, giveUpMs).unref()

const short: string[] = []
const { json, footfall, addresses, clickhousePid, remove } = await install({}, { memory })

/** Of the whole process: the shared library that is mapped and used is part of it. */
function megabytes(name: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes] =
    new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${clickhousePid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

/** Of one core, in percent. */
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
  const idle = { cpuPercent: await cpuPercent(idleMs), megabytes: megabytes('VmRSS') }
  await json('site', 'create', 'small.example', '--timezone', 'Europe/Berlin')
  say(`${events} events`)
  const made = await json('demo', 'small.example', '--events', events)
  say('folding')
  const folding = performance.now()
  const folded = await json('fold', 'run', '--site', 'small.example')
  const foldSeconds = Math.round((performance.now() - folding) / 100) / 10
  const verified = await footfall('fold', 'verify', '--json')
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
      else if (took > longestAnswerMs) short.push(`${report} ${range} took ${Math.round(took)} ms`)
    }
  }
  await api.stop()
  const result = {
    events: made.events,
    days: folded.days,
    foldSeconds,
    answers,
    slowestMs,
    memoryLimitMegabytes: memory / 2 ** 20,
    peakMegabytes: megabytes('VmHWM'),
    idle,
    short,
  }
  for (const one of short) say(`SHORT ${one}`)
  process.stdout.write(`${JSON.stringify(result)}\n`)
} finally {
  await remove()
}
process.exit(short.length > 0 ? 1 : 0)
