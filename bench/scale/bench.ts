// What responses cost as sites grow (docs/scale.md): every query for a whale, for smaller versions of the same site, and for many small
// sites, in turn.
//   npm run bench:scale [-- --events 100000000 --sites 1000 --fresh --write]
//   npm run bench:scale -- --events 300000 --sites 20       the short form
//   npm run bench:scale -- --columns                        only the bytes of an event by column
// The traffic is generated once and kept in the cache folder; --fresh generates it again. --write puts the result into docs/.
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { scaleFiles } from '../../dev/docs/scale-page.ts'
import { readOptions } from '../../test/support/options.ts'
import { machineTime, round, since } from '../api/measure.ts'
import { measureColumns } from './columns.ts'
import { judge } from './judge.ts'
import { measure } from './measuring.ts'
import type { ScaleResult } from './result.ts'
import { makeSite, openWorld, type World } from './world.ts'

const { events, sites, fresh, write, columns, ...given } = readOptions('scale', {
  events: 100_000_000,
  sites: 1_000,
  fresh: false,
  write: false,
  columns: false,
  /** The time limit, if not 0. Two free cores need 80 for the full form and 1.5 for the short one. */
  minutes: 0,
})
const minutes = given.minutes || (events > 10_000_000 ? 120 : 5)

const startedAt = performance.now()
const say = (text: string): void =>
  void process.stderr.write(`${((performance.now() - startedAt) / 1_000).toFixed(1)} s: ${text}\n`)

let world: World | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void giveUp(signal))
setTimeout(() => void giveUp(`not finished in ${minutes} minutes`), minutes * 60_000).unref()

async function giveUp(why: string): Promise<never> {
  await world?.close().catch((error) => say(`${error}`))
  console.log(JSON.stringify({ bench: 'scale', ok: false, short: [why] }))
  process.exit(1)
}

try {
  const machine = machineTime()
  world = await openWorld({ events, sites, fresh, say })
  if (columns) {
    await makeSite(world, world.sizes[0], say)
    const bytes = await measureColumns(world, world.sizes[0])
    await world.close()
    console.log(JSON.stringify({ bench: 'scale', events, bytes }))
    process.exit()
  }
  const found = await measure(world, { isShort: events <= 10_000_000, say })
  const measured = {
    measuredAt: new Date().toISOString(),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      memoryGiB: round(totalmem() / 1024 ** 3, 1),
      ...since(machine),
    },
    ...found,
  }
  const judgements = judge(measured)
  const short = judgements
    .filter(({ ok }) => ok === false)
    .map(({ name, value, bound }) => `${name}: ${value}, not ${bound}`)
  const seconds = round((performance.now() - startedAt) / 1_000, 1)
  const result: ScaleResult = { bench: 'scale', ...measured, seconds, judgements, short, ok: short.length === 0 }
  if (write) {
    const docs = new URL('../../docs/', import.meta.url)
    writeFileSync(new URL('scale.json', docs), `${JSON.stringify(result)}\n`)
    const text = readFileSync(new URL('scale.json', docs), 'utf8')
    for (const [name, content] of Object.entries(scaleFiles(text)))
      writeFileSync(new URL(`../../${name}`, import.meta.url), content)
  }
  await world.close()
  for (const { name, value, bound, ok } of judgements)
    say(`${ok === false ? 'SHORT' : ok ? 'ok' : '-'}  ${name}: ${value} (${bound})`)
  console.log(JSON.stringify(result))
  process.exit(short.length === 0 ? 0 : 1)
} catch (error) {
  say(`${(error as Error).stack}`)
  await giveUp((error as Error).message)
}
