// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
// Breakages of the yardstick: one that measures wrongly, or lets pass what is too slow.
import type { Mutation } from './mutations.ts'

const judge = 'bench/scale/judge.ts'
const judged = 'test/unit/scale-judge.test.ts'
const asked = 'test/unit/scale-questions.test.ts'

export const scaleMutations: Mutation[] = [
  {
    name: 'scale: a bound that is missed by little holds',
    file: judge,
    find: 'ok: judged ? value <= bound : null',
    replace: 'ok: judged ? Math.floor(value) <= bound : null',
    caughtBy: judged,
  },
  {
    name: 'scale: what only a whale can show is judged on any site',
    file: judge,
    find: 'boolean => sizes.whale >= whaleEvents',
    replace: 'boolean => sizes.whale >= whaleEvents / 1_000',
    caughtBy: judged,
  },
  {
    name: 'scale: any number of rows may be read for an excluded country',
    file: judge,
    find: "const cells = filter === 'excluded' ? 3 : 1",
    replace: "const cells = filter === 'excluded' ? 3_000 : 1",
    caughtBy: judged,
  },
  {
    name: 'scale: an answer that differs from raw events is not counted',
    file: judge,
    find: 'compared.filter(({ same }) => same === false).length',
    replace: 'compared.filter(({ same }) => same === undefined).length',
    caughtBy: judged,
  },
  {
    name: 'scale: a window that ends yesterday has a day too many',
    file: 'bench/scale/questions.ts',
    find: 'firstDay: lastDay.subtract(back).add({ days: 1 })',
    replace: 'firstDay: lastDay.subtract(back)',
    caughtBy: asked,
  },
  {
    name: 'scale: the day that is not over counts as folded',
    file: 'bench/scale/values.ts',
    find: '(day === `${period.lastDay}` && partialEnd(period) !== null)',
    replace: '(day === `${period.lastDay}` && partialEnd(period) === 0)',
    caughtBy: asked,
  },
  {
    name: 'scale: replicas cost no disk',
    file: 'dev/docs/scale-arithmetic.ts',
    find: 'one.rawBytesAnEvent * keptDays.value * copies',
    replace: 'one.rawBytesAnEvent * keptDays.value',
    caughtBy: 'test/unit/scale-arithmetic.test.ts',
  },
]
