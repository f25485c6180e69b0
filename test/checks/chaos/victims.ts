// The seed decides which store breaks when, how, and for how long. Between two outages there is time to recover, because the promise about
// requests holds for cached keys.

import type { StoreName } from '../../support/own-stores.ts'
import type { Random } from '../../support/random.ts'
import { type Check, pause } from '../runner.ts'
import type { Installation } from './installation.ts'
import type { Requests } from './requests.ts'

const names = ['PostgreSQL', 'Redis', 'ClickHouse'] as const
const harms = ['killed', 'stopped', 'restarted'] as const
const maxRecoveryMs = 20_000

export type Victims = Record<StoreName, Record<(typeof harms)[number], number>>

export async function breakStores(
  check: Check,
  { stores }: Installation,
  requests: Requests,
  { random, until }: { random: Random; until: number },
): Promise<Victims> {
  const none = () => ({ killed: 0, stopped: 0, restarted: 0 })
  const victims: Victims = { PostgreSQL: none(), Redis: none(), ClickHouse: none() }
  // Any three outages in a row break three different stores, so a short run breaks each of them. Any nine in a row are of nine kinds.
  let left: [StoreName, (typeof harms)[number]][] = []
  while (performance.now() < until) {
    if (left.length === 0) {
      left = harms.flatMap((_, round) =>
        random.sample(names, names.length).map((name): [StoreName, (typeof harms)[number]] => {
          const harm = harms[(round + names.indexOf(name)) % harms.length] as (typeof harms)[number]
          return [name, harm]
        }),
      )
    }
    const [name, harm] = left.pop() as [StoreName, (typeof harms)[number]]
    const awayMs = 500 + random.below(3_500)
    const store = stores.all[name]
    victims[name][harm]++
    check.say(`${name} is ${harm}${harm === 'restarted' ? '' : `, for ${awayMs} ms`}`)
    requests.setVictim(name)
    if (harm === 'stopped') {
      store.signal('SIGSTOP')
      await pause(awayMs)
      store.signal('SIGCONT')
    } else {
      await store.kill()
      if (harm === 'killed') await pause(awayMs)
      await store.start()
    }
    await pause(500)
    requests.setVictim(undefined)
    if (!(await requests.untilAnswered(maxRecoveryMs))) {
      check.slow('recovery', `${name} ${harm}: the API did not answer ${maxRecoveryMs} ms later`)
    }
    await pause(1_000 + random.below(2_000))
  }
  for (const name of names) {
    if (Object.values(victims[name]).every((times) => times === 0)) check.slow('too slow', `${name} was never broken`)
  }
  return victims
}
