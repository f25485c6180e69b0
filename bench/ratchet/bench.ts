// What an event and an answer cost, as ratios within one run, against the best known ones in bench/ratchet.json. A ratio that is 15 %
// worse is measured again at once. If it is worse twice in a row, the run fails and names the commits since the best one.
//   npm run bench:ratchet [-- --only 'rolling up'] [-- --write]     in about four minutes; --write notes better ratios in the file
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { readOptions } from '../../test/support/options.ts'
import { machineTime, round, since } from '../api/measure.ts'
import { geometricMean } from '../scale/judge.ts'
import { type Best, improved, worseThan } from './judge.ts'
import { measureRollingUp } from './rolling-up.ts'

const { write, only } = readOptions('ratchet', { write: false, only: '' })
const file = new URL('../ratchet.json', import.meta.url)
const maxMinutes = 15

setTimeout(() => {
  console.log(JSON.stringify({ bench: 'ratchet', ok: false, short: [`not finished in ${maxMinutes} minutes`] }))
  process.exit(1)
}, maxMinutes * 60_000).unref()

const say = (what: string): void => void process.stderr.write(`${what}\n`)

const measures: Readonly<Record<string, () => number | Promise<number>>> = {
  /** CPU of the collector per event, in multiples of an endpoint that does nothing. */
  collector: () => resultOf('check:collect', '--rounds 1 --seconds 12 --down 1 --cpu 100').steady.cpu.ratio,
  'rolling up': measureRollingUp,
  /** Time of an answer, in multiples of its own SQL. */
  answers() {
    const { reports } = resultOf('bench:api', '--only latency --each 40').latency.client
    return geometricMean(Object.values(reports).map(({ ratio }) => ratio.p10))
  },
}

interface Result {
  steady: { cpu: { ratio: number } }
  latency: { client: { reports: Record<string, { ratio: { p10: number } }> } }
}

/** A bound of its own that the command misses is not judged here. */
function resultOf(script: string, words: string): Result {
  const { stdout } = spawnSync('npm', ['run', '--silent', script, '--', ...words.split(' ')], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Result
}

async function measure(names: readonly string[]): Promise<Record<string, number>> {
  const ratios: Record<string, number> = {}
  for (const name of names) {
    ratios[name] = round((await measures[name]?.()) ?? Number.NaN, 3)
    say(`${name}: ${ratios[name]}`)
  }
  return ratios
}

const git = (...words: string[]): string => spawnSync('git', words, { encoding: 'utf8' }).stdout.trim()

const best = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Best>
const machine = machineTime()
const first = await measure(Object.keys(measures).filter((name) => only === '' || name === only))
const again = await measure(worseThan(best, first))
const worse = worseThan(best, again)
const short = worse.map((name) => {
  const { ratio, commit } = best[name] as Best
  const commits = git('log', '--oneline', `${commit}..HEAD`) || 'unknown, because this clone does not have that commit'
  return `${name}: ${first[name]} and ${again[name]}, best ${ratio} at ${commit}; since then: ${commits.replaceAll('\n', '; ')}`
})
if (write) {
  const next = improved(best, { ...first, ...again }, git('rev-parse', '--short', 'HEAD'))
  writeFileSync(file, `${JSON.stringify(next, null, 2)}\n`)
}
const { steal, busy } = since(machine)
console.log(JSON.stringify({ bench: 'ratchet', best, first, again, steal, busy, short, ok: short.length === 0 }))
process.exit(short.length === 0 ? 0 : 1)
