// Excluded countries change on every fifth site while requests run. Records which exclusions a response may show.
import { setExcludedCountries } from '../../../src/accounts/sites.ts'
import type { Postgres } from '../../../src/stores/postgres.ts'
import type { CountryCode } from '../../../src/traffic/country.ts'
import type { Random } from '../../support/random.ts'
import { pause } from './breakable-stores.ts'
import type { WatermarkedSite } from './watermarked-sites.ts'

export interface Exclusions {
  changes(): number
  /** Changes each of these sites once more, and returns when all processes show it. */
  changeAll(): Promise<void>
  /** Every list that was in effect at some time between the two, by `performance.now()`. */
  between(site: WatermarkedSite, from: number, until: number): readonly CountryCode[][]
  stop(): Promise<void>
}

interface InForce {
  excluded: CountryCode[]
  from: number
  until: number
}

const changeEveryMs = 3_000

const choices: CountryCode[][] = [[], ['DE'], ['FR', 'JP'], ['JP'], ['DE', 'FR', 'JP']]

/** `shows` says whether every API process uses these exclusions now; until then the previous ones may be seen too. */
export function changeExclusions(
  postgres: Postgres,
  sites: readonly WatermarkedSite[],
  random: Random,
  shows: (site: WatermarkedSite, excluded: readonly CountryCode[]) => Promise<boolean>,
): Exclusions {
  const changing = sites.filter(({ number }) => number % 5 === 0)
  const history = new Map<number, InForce[]>(
    changing.map(({ number }) => [number, [{ excluded: [], from: 0, until: Number.POSITIVE_INFINITY }]]),
  )
  let changes = 0
  let stopped = false

  async function changeOne(site: WatermarkedSite): Promise<void> {
    const lists = history.get(site.number) as InForce[]
    const last = lists.at(-1) as InForce
    const excluded = random.pick(choices.filter((list) => list !== last.excluded))
    const next = { excluded, from: performance.now(), until: Number.POSITIVE_INFINITY }
    lists.push(next)
    await setExcludedCountries(postgres, site.id, excluded)
    while (!(await shows(site, excluded))) {
      if (stopped) return
      await pause(50)
    }
    last.until = performance.now()
    changes++
  }

  /** Changes of one site run one after the other: each has to know the previous list when it begins. */
  const lastChange = new Map<number, Promise<void>>()
  function changeInTurn(site: WatermarkedSite): Promise<void> {
    const change = (lastChange.get(site.number) ?? Promise.resolve()).then(() =>
      stopped ? undefined : changeOne(site),
    )
    lastChange.set(site.number, change)
    return change
  }

  async function change(): Promise<void> {
    while (!stopped) {
      for (const site of changing) {
        if (stopped) return
        await changeInTurn(site)
        await pause(changeEveryMs / changing.length)
      }
    }
  }

  const changingEnds = change()
  return {
    changes: () => changes,
    async changeAll() {
      await Promise.all(changing.map(changeInTurn))
    },
    between: ({ number }, from, until) =>
      (history.get(number) ?? [{ excluded: [], from: 0, until: Number.POSITIVE_INFINITY }])
        .filter((one) => one.from <= until && one.until >= from)
        .map(({ excluded }) => excluded),
    async stop() {
      stopped = true
      await changingEnds
    },
  }
}
