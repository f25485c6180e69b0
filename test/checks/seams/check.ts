// Random walks over one installation: events, rollups, retention, imports, moves, deletions, backups and restores, and processes that are
// killed, in any order. After every step all answers are compared with a model that knows the accepted events. It finds what goes wrong
// between parts that are right alone.
//   npm run check:seams -- [--one 60] [--two 40] [--replicated 20] [--steps 30] [--seed 7]
//   npm run check:seams -- --seed 7 --walk 'two 12'     one walk again, as printed with a difference
import { seeded } from '../../support/random.ts'
import { type Check, runCheck } from '../runner.ts'
import { startWalkServers, type WalkServers } from './installation.ts'
import { replicaSteps, steps } from './steps.ts'
import { type Planned, shorten, takeWalk } from './walk.ts'

/** One server, two shards, and two shards of two replicas. */
const forms = [
  { form: 'one', shards: 1, kind: 'plain', kinds: Object.keys(steps).filter((kind) => kind !== 'move') },
  { form: 'two', shards: 2, kind: 'plain', kinds: Object.keys(steps) },
  { form: 'replicated', shards: 2, kind: 'replicated', kinds: Object.keys({ ...steps, ...replicaSteps }) },
] as const

/** A run of this many walks takes every kind of step this often. */
const manyWalks = 100
const minSteps = 20

await runCheck(
  {
    name: 'seams',
    options: { one: 60, two: 40, replicated: 20, steps: 30, walk: '' },
    mayBeZero: ['one', 'two', 'replicated'],
    seconds: ({ one, two, replicated, steps: length }) => 300 + (one + two + 2 * replicated) * length * 8,
  },
  async (check, { steps: length, walk, ...wanted }) => {
    const counts = new Map<string, number>()
    const [givenForm, givenNumber] = walk.split(' ')
    let walks = 0
    for (const { form, shards, kind, kinds } of forms) {
      const numbers = walk ? (form === givenForm ? [Number(givenNumber)] : []) : [...Array(wanted[form]).keys()]
      if (numbers.length === 0) continue
      const servers = await startWalkServers(shards, kind)
      check.onEnd(servers.remove)
      for (const number of numbers) {
        const plan = planOf(`${check.seed}/${form}/${number}`, kinds, length)
        for (const step of plan) counts.set(step.kind, (counts.get(step.kind) ?? 0) + 1)
        await checkWalk(check, servers, `${form} ${number}`, plan)
        walks++
        check.say(`${walks} walks, ${JSON.stringify(check.faults)}`)
      }
      await servers.remove()
    }
    for (const [kind, count] of counts)
      if (walks >= manyWalks && count < minSteps) check.fault('too few steps', `${kind}: ${count}`)
    return { walks, counts: Object.fromEntries(counts) }
  },
)

function planOf(seed: string, kinds: readonly string[], length: number): Planned[] {
  const random = seeded(seed)
  return Array.from({ length }, (_, index) => ({ kind: random.pick(kinds), seed: `${seed}/${index}` }))
}

async function checkWalk(check: Check, servers: WalkServers, name: string, plan: readonly Planned[]): Promise<void> {
  const seed = `${check.seed}/${name}`
  const failed = await takeWalk(servers, seed, plan)
  if (!failed) return
  check.fault(failed.what, `--walk '${name}'`, failed.taken.map(({ kind }) => kind).join(', '), ...failed.lines)
  const shortest = await shorten(servers, seed, failed.taken, check.say)
  check.say(`Shortest: ${shortest.map(({ kind }) => kind).join(', ')}`)
}
