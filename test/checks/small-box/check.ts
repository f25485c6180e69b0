// A small machine: ClickHouse with the settings of deploy/clickhouse and 1 GiB of memory rolls up a site of two million events and answers
// queries about it.
//   npm run check:smallbox
//   npm run check:smallbox -- --events 200000 --idle 4     the short form
// Prints the memory of ClickHouse when idle and at its peak.
import { readFileSync } from 'node:fs'
import { reports } from '../../../src/stats/reports.ts'
import { startApiProcess } from '../../support/api-process.ts'
import { install } from '../../support/installation.ts'
import { pause, runCheck } from '../runner.ts'

const memory = 2 ** 30
const maxAnswerMs = 2_500

await runCheck(
  // ClickHouse is watched doing nothing for `idle` seconds.
  { name: 'smallbox', options: { events: 2_000_000, idle: 20 }, seconds: () => 540 },
  async (check, { events, idle: idleSeconds }) => {
    const { json, footfall, addresses, clickhousePid, remove } = await install({}, { memory })
    check.onEnd(remove)
    const pid = clickhousePid as number
    check.say('idle')
    const idle = { cpuPercent: await cpuPercent(pid, idleSeconds), megabytes: megabytes(pid, 'VmRSS') }
    await json('site', 'create', 'small.example', '--timezone', 'Europe/Berlin')
    check.say(`${events} events`)
    const made = await json('demo', 'small.example', '--events', `${events}`)
    check.say('rolling up')
    const began = performance.now()
    const rolledUp = await json('rollup', 'run', '--site', 'small.example')
    const rollupSeconds = Math.round((performance.now() - began) / 100) / 10
    const verified = await footfall('rollup', 'verify', '--json')
    if (verified.code !== 0) check.fault('verify', `${verified.stdout}${verified.stderr}`.slice(0, 300))
    const { key } = await json('key', 'create', 'small.example')
    const api = await startApiProcess(addresses)
    check.onEnd(api.stop)
    check.say('asking')
    let slowestMs = 0
    let answers = 0
    for (const range of ['7d', '30d', '90d', '12m']) {
      for (const report of Object.keys(reports)) {
        const asked = performance.now()
        const response = await fetch(`${api.url}/api/v1/stats/${report}?range=${range}&limit=100`, {
          headers: { Authorization: `Bearer ${key}` },
        })
        await response.text()
        const took = Math.round(performance.now() - asked)
        slowestMs = Math.max(slowestMs, took)
        answers++
        if (response.status !== 200) check.fault('failed request', `${report} ${range}: ${response.status}`)
        else if (took > maxAnswerMs) check.slow('slow answer', `${report} ${range} took ${took} ms`)
      }
    }
    return {
      events: made.events,
      days: rolledUp.days,
      rollupSeconds,
      answers,
      slowestMs,
      memoryLimitMegabytes: memory / 2 ** 20,
      peakMegabytes: megabytes(pid, 'VmHWM'),
      idle,
    }
  },
)

/** Memory of the whole process, including the used part of the mapped shared library. */
function megabytes(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes] = new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

/** Percent of one core. */
async function cpuPercent(pid: number, seconds: number): Promise<number> {
  const ticks = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return Number(fields[11]) + Number(fields[12])
  }
  const before = ticks()
  await pause(seconds * 1000)
  return Math.round(((ticks() - before) / 100 / seconds) * 1000) / 10
}
