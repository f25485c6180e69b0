import { readFileSync } from 'node:fs'
import { findSite } from '../../src/accounts/sites.ts'
import { reports } from '../../src/stats/reports.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { openByHttp } from '../api/engine-connection.ts'
import { answer } from './answers.ts'
import { filterWords, queryOf, ranges, reportNames } from './questions.ts'
import { siteOf } from './sites.ts'

const env = JSON.parse(readFileSync('/tmp/mine/env.json', 'utf8'))
const [name = 'whale/100', rounds = '10', win = 'yesterday', settings = '{}'] = process.argv.slice(2)
const engine = openByHttp(env.CLICKHOUSE_URL, { settings: JSON.parse(settings) })
const postgres = openPostgres(env.DATABASE_URL, 1)
const site = siteOf(name, 1)
const folds = (await findSite(postgres, site.id))?.folds ?? []
const state = JSON.parse(readFileSync(process.env.STATE as string, 'utf8'))
const now = Temporal.Instant.fromEpochMilliseconds(state.until).toZonedDateTimeISO(env.zone)
const floor: number[] = []
const times = new Map<string, number[]>()
const rows = new Map<string, number>()
for (let r = 0; r < Number(rounds); r++)
  for (const filter of filterWords)
    for (const range of ranges)
      for (const report of reportNames) {
        const q = queryOf({ site, report, range, window: win as any, filter }, now, folds)
        const a = await answer(engine, reports[report], q)
        const b = performance.now()
        await engine.ask({ text: 'SELECT 1', parameters: {} })
        floor.push(performance.now() - b)
        const k = `${filter} ${report} ${range}`
        times.set(k, [...(times.get(k) ?? []), a.milliseconds])
        rows.set(k, a.rows)
        if (process.env.SHOW === k && r === 0) console.log(a.statements[0])
      }
const p10 = (xs: number[]) => xs.sort((a, b) => a - b)[Math.floor(xs.length / 10)]!
const f = p10(floor)
console.log('floor', f.toFixed(2))
const gm = (xs: number[]) => Math.exp(xs.reduce((s, x) => s + Math.log(x), 0) / xs.length)
for (const filter of filterWords)
  for (const report of reportNames)
    console.log(
      filter.padEnd(9),
      report.padEnd(11),
      ranges
        .map((range) => {
          const k = `${filter} ${report} ${range}`
          return `${(p10(times.get(k)!) / f).toFixed(1)}x ${rows.get(k)}`.padStart(16)
        })
        .join(' '),
    )
console.log('geomean', gm([...times.values()].map((t) => p10(t) / f)).toFixed(2))
await engine.close()
await postgres.end()
