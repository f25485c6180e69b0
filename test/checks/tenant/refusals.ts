// A site that does not exist and a site of another account are refused with the same bytes and in the same time.
import { createAccount } from '../../../src/accounts/accounts.ts'
import { newId } from '../../../src/accounts/ids.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { reports } from '../../../src/stats/reports.ts'
import type { Postgres } from '../../../src/stores/postgres.ts'
import { openConnection, requestText } from '../../support/connection.ts'
import type { Random } from '../../support/random.ts'
import { keySecrets } from '../../support/stores.ts'
import { pause } from './breakable-stores.ts'
import { sitesEndpoints } from './expected.ts'
import { questionEndpoints } from './questions.ts'
import { eventIdOf, goalOf, type TrafficDays, type WatermarkedSite } from './watermarked-sites.ts'

export interface RefusalCounts {
  compared: number
  different: number
  examples: string[]
}

/** Sends each request with an unknown, a foreign and a malformed id and compares every byte except times and counters. */
export async function compareRefusals(
  url: string,
  sites: readonly WatermarkedSite[],
  { recent: day }: Pick<TrafficDays, 'recent'>,
): Promise<RefusalCounts> {
  const own = sites[0] as WatermarkedSite
  const foreign = sites.find(({ accountId }) => accountId !== own.accountId) as WatermarkedSite
  const sibling = sites.find((site) => site.accountId === own.accountId && site !== own)
  const connection = await openConnection(url)
  const totals: RefusalCounts = { compared: 0, different: 0, examples: [] }
  async function ask(method: string, path: string, id: string, headers: Record<string, string>): Promise<string> {
    const request = requestText(method, path.replace('ID', id), headers)
    for (let attempt = 1; ; attempt++) {
      const answer = comparable(await connection.send(request, method === 'HEAD'))
      // PostgreSQL may be late on a busy machine, and a 500 says nothing about a site.
      if (attempt === 5 || !answer.startsWith('HTTP/1.1 500')) return answer
      await pause(300)
    }
  }

  const endpoints = [
    ...[...Object.keys(reports).map((name) => `stats/${name}`), ...sitesEndpoints].map((name) => `v1/${name}`),
    ...questionEndpoints,
    `v2/events/${eventIdOf(foreign.mark, `${day} 0`)}`,
  ]
  for (const endpoint of endpoints) {
    for (const key of [own.accountKeys[0], own.siteKeys[0]] as string[]) {
      const ids = [newId('site'), foreign.id, 'site_no', ...(key === own.siteKeys[0] && sibling ? [sibling.id] : [])]
      for (const query of [
        'site_id=ID',
        'site_id=ID&range=7d&limit=5',
        'site_id=ID&range=nonsense',
        'os=x&site_id=ID',
      ]) {
        for (const method of ['GET', 'HEAD']) {
          const headers = { Authorization: `Bearer ${key}`, 'If-None-Match': '*' }
          const answers: string[] = []
          for (const id of ids) answers.push(await ask(method, `/api/${endpoint}?${query}`, id, headers))
          totals.compared += answers.length
          const refused = answers.every((answer) => answer.startsWith('HTTP/1.1 403'))
          if (refused && new Set(answers).size === 1) continue
          totals.different++
          if (totals.examples.length < 2) totals.examples.push(`${method} ${endpoint}?${query}\n${answers.join('\n')}`)
        }
      }
    }
  }
  // A goal of another site is refused like one that no site has.
  for (const path of ['v2/stats/totals?metrics=conversions&goal=ID', 'v2/stats/totals?filter=goal:is:ID']) {
    const headers = { Authorization: `Bearer ${own.siteKeys[0]}` }
    const goals = [goalOf(foreign.mark), goalOf('nobody')].map(encodeURIComponent)
    const answers = [await ask('GET', `/api/${path}`, goals[0] as string, headers)]
    answers.push(await ask('GET', `/api/${path}`, goals[1] as string, headers))
    totals.compared += answers.length
    if (answers[0]?.startsWith('HTTP/1.1 400') && answers[0] === answers[1]) continue
    totals.different++
    totals.examples.push(`GET ${path}\n${answers.join('\n')}`)
  }
  // An event of another site is unknown like one that nobody has sent.
  const ofEvent = (id: string) =>
    ask('GET', `/api/v2/events/${id}?day=${day}`, '', { Authorization: `Bearer ${own.siteKeys[0]}` })
  const [mine, theirs, nobodys] = [own.mark, foreign.mark, 'nobody'].map((mark) => eventIdOf(mark, `${day} 0`)) as [
    ...[string, string, string],
  ]
  const mineIs = await ofEvent(mine)
  if (!/"state":"(counted|excluded)"/.test(mineIs)) throw new Error(`An event of the own site is not found: ${mineIs}`)
  const [foreignAnswer, noAnswer] = [await ofEvent(theirs), await ofEvent(nobodys)].map((answer, index) =>
    answer
      .replaceAll([theirs, nobodys][index] as string, 'ID')
      .replace(/^ETag: .*$/im, '')
      .replace(/"generated_at":"[^"]*"/, ''),
  )
  totals.compared += 2
  if (foreignAnswer !== noAnswer || !noAnswer?.includes('"state":"unknown"')) {
    totals.different++
    totals.examples.push(`GET /api/v2/events\n${foreignAnswer}\n${noAnswer}`)
  }
  connection.close()
  return totals
}

const comparable = (answer: Buffer): string =>
  answer
    .toString()
    .replace(/^(X-Request-Id|Date|X-RateLimit-Remaining|X-RateLimit-Reset): .*$/gim, (_, name: string) => `${name}: …`)

interface Timing {
  requests: number
  unknownMs: number
  foreignMs: number
  differenceMs: number
}

export interface EnumCounts {
  /** The same unknown id and the same foreign id, repeatedly. */
  remembered: Timing
  /** An id that was never sent before, against a foreign one that its owner is using: what an attacker would try. */
  guessed: Timing
}

/** A lookup in a PostgreSQL nearby takes 0.15 ms, so cached ids need a closer limit than the promised 0.2 ms. */
export const maxDifferenceMs = { remembered: 0.05, guessed: 0.2 }

/** Medians of interleaved requests, one at a time, with keys of an account without sites. */
export async function timeRefusals(
  url: string,
  postgres: Postgres,
  sites: readonly WatermarkedSite[],
  each: number,
  random: Random,
): Promise<EnumCounts> {
  const accountId = await createAccount(postgres, { name: 'Curious', plan: 'Agency' })
  const guesses = Math.ceil(each / 5)
  const keys: string[] = []
  // A key allows 5,000 requests per hour.
  for (let count = 0; count < Math.ceil((2 * (each + guesses) + 1_000) / 4_500); count++) {
    keys.push((await createKey(postgres, keySecrets, { accountId, name: 'Curious' })).text)
  }
  const connection = await openConnection(url)
  let sent = 0
  async function time(id: string): Promise<number> {
    const headers = { Authorization: `Bearer ${keys[sent++ % keys.length]}` }
    const request = requestText('GET', `/api/v1/stats/overview?site_id=${id}`, headers)
    const begin = performance.now()
    const answer = await connection.send(request)
    const took = performance.now() - begin
    if (!answer.toString('latin1', 0, 12).endsWith('403')) throw new Error(`Not refused: ${answer}`)
    return took
  }
  async function compare(count: number, unknown: () => string, foreign: () => string): Promise<Timing> {
    const times = { unknown: [] as number[], foreign: [] as number[] }
    for (let round = 0; round < count; round++) {
      const order = random.oneIn(2) ? (['unknown', 'foreign'] as const) : (['foreign', 'unknown'] as const)
      for (const which of order) times[which].push(await time(which === 'unknown' ? unknown() : foreign()))
    }
    const [unknownMs, foreignMs] = [median(times.unknown), median(times.foreign)]
    return { requests: 2 * count, unknownMs, foreignMs, differenceMs: unknownMs - foreignMs }
  }

  const foreign = (sites[0] as WatermarkedSite).id
  const unknown = newId('site')
  await compare(
    500,
    () => unknown,
    () => foreign,
  ) // the first requests compile the code
  const remembered = await compare(
    each,
    () => unknown,
    () => foreign,
  )
  const guessed = await compare(
    guesses,
    () => newId('site'),
    () => random.pick(sites).id,
  )
  connection.close()
  return { remembered, guessed }
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] as number
