// Random walks over one installation: events, rollups, retention, imports, moves, deletions, backups and restores, and processes that are
// killed, in any order. After every step all answers are compared with a model that knows the accepted events. It finds what goes wrong
// between parts that are right alone.
//   npm run check:seams -- [--one 60] [--two 40] [--steps 30] [--seed 7]
//   npm run check:seams -- --seed 7 --walk 'two 12'     one walk again, as printed with a difference
import { seeded } from '../../support/random.ts'
import { type Check, runCheck } from '../runner.ts'
import { startWalkServers, type WalkServers } from './installation.ts'
import { steps } from './steps.ts'
import { type Planned, shorten, takeWalk } from './walk.ts'

const forms = { one: 1, two: 2 } as const
type Form = keyof typeof forms

await runCheck(
  {
    name: 'seams',
    options: { one: 60, two: 40, steps: 30, walk: '' },
    mayBeZero: ['one', 'two'],
    seconds: ({ one, two, steps: length }) => 300 + (one + two) * length * 8,
  },
  async (check, { one, two, steps: length, walk }) => {
    const counts = Object.fromEntries(Object.keys(steps).map((kind) => [kind, 0]))
    const [givenForm, givenNumber] = walk.split(' ')
    let walks = 0
    for (const [form, wanted] of [
      ['one', one],
      ['two', two],
    ] as const) {
      const numbers = walk ? (form === givenForm ? [Number(givenNumber)] : []) : [...Array(wanted).keys()]
      if (numbers.length === 0) continue
      const servers = await startWalkServers(forms[form])
      check.onEnd(servers.remove)
      for (const number of numbers) {
        await checkWalk(check, servers, form, number, length, counts)
        walks++
        check.say(`${form}: ${number + 1} of ${numbers.length} walks, ${JSON.stringify(check.faults)}`)
      }
    }
    return { walks, counts }
  },
)

async function checkWalk(
  check: Check,
  servers: WalkServers,
  form: Form,
  number: number,
  length: number,
  counts: Record<string, number>,
): Promise<void> {
  const seed = `${check.seed}/${form}/${number}`
  const random = seeded(seed)
  const kinds = Object.keys(steps).filter((kind) => form !== 'one' || kind !== 'move')
  const plan = Array.from({ length }, (_, index): Planned => ({ kind: random.pick(kinds), seed: `${seed}/${index}` }))
  const failed = await takeWalk(servers, seed, plan)
  for (const { kind } of plan) counts[kind] = (counts[kind] ?? 0) + 1
  if (!failed) return
  check.fault(
    failed.what,
    `--walk '${form} ${number}'`,
    `${failed.taken.map(({ kind }) => kind).join(', ')}`,
    ...failed.lines,
  )
  const shortest = await shorten(servers, seed, failed.taken, check.say)
  check.say(`Shortest: ${shortest.map(({ kind }) => kind).join(', ')}`)
}
