// Sends requests to the API, and reports every response that differs from what the model expects.
import { isDeepStrictEqual } from 'node:util'
import type { Check } from '../runner.ts'
import { callOf, differenceOf } from './assistant.ts'
import type { Answers } from './invariants.ts'
import { answer, answerOfSites, type NamedSite, type Report, reports } from './model.ts'
import type { Params } from './params.ts'
import type { OpenSite, Response, RunningApi } from './running-api.ts'
import type { World } from './worlds.ts'

export interface Run {
  check: Check
  runningApi: RunningApi
  requestsPerWorld: number
  /** Whether sites move to another shard while they are asked. */
  moves: boolean
  totals: { worlds: number; requests: number; calls: number; questions: number; moves: number }
}

export interface Opened {
  run: Run
  world: World
  site: NamedSite
  api: OpenSite
}

/**
 * A 5xx is a difference like any other but is counted separately: the API failed, it did not count wrongly. On a busy machine it must not
 * displace the one wrong number in the output.
 */
type Kind = 'wrong' | 'failed' | 'broken'

export function report({ check, requestsPerWorld, moves }: Run, kind: Kind, world: World, lines: string[]): void {
  check.fault(
    kind,
    `--world ${world.number} --requests ${requestsPerWorld}${moves ? ' --moved 1' : ''}`,
    `zone ${world.zone}, until ${new Date(world.before.until).toISOString()} ${world.before.zone}, now ${new Date(world.now).toISOString()}, ${world.events.length} events`,
    ...lines,
  )
}

/** Sends one request, compares everything the model knows about the response, and returns its data, if there is any. */
export async function compare({ run, world, site, api }: Opened, asked: Report, params: Params): Promise<unknown> {
  const expected = answer(site, asked, params, world.now)
  const sentAt = performance.now()
  const got = await api.get(`/stats/${asked}`, params)
  const tookMs = Math.round(performance.now() - sentAt)
  run.totals.requests += 1
  const [wanted, received] =
    expected.status === 200
      ? [
          [
            ...[200, expected.period, expected.previousPeriod ?? null, expected.totalRows ?? null],
            ...[expected.warnings, expected.body, []],
          ],
          [
            ...[
              got.status,
              got.header('stats-period'),
              got.header('stats-previous-period'),
              got.header('stats-total-rows'),
            ],
            ...[got.header('stats-warning')?.split('; ').length ?? 0, got.text],
            expected.remarks.filter((one) => !got.header('stats-warning')?.includes(one)),
          ],
        ]
      : [
          [expected.status, expected.code],
          [got.status, errorCode(got)],
        ]
  if (!isDeepStrictEqual(wanted, received)) {
    report(run, got.status >= 500 ? 'failed' : 'wrong', world, [
      `GET /stats/${asked}?${new URLSearchParams(params.map(([name, value]) => [name, value]))}`,
      `excluded ${site.excludedCountries.join(' ') || 'nothing'}`,
      `expected ${aroundTheFirstDifference(wanted.join('  '), received.join('  '))}`,
      `got after ${tookMs} ms ${aroundTheFirstDifference(received.join('  '), wanted.join('  '))}`,
    ])
  }
  return got.status === 200 ? JSON.parse(got.text).data : undefined
}

/** The overview of all sites of the account in one call, and their list. */
export async function compareSites(opened: readonly [Opened, ...Opened[]], params: Params): Promise<void> {
  const [{ run, world, api }] = opened
  const sites = opened.map(({ site }) => site)
  const expected = answerOfSites(sites, params, world.now)
  const got = await api.getOfAccount('/sites/overview', params)
  const listed = await api.getOfAccount('/sites', [])
  const rows = sites
    .toSorted((one, other) => (one.domain < other.domain ? -1 : 1))
    .map(({ siteId, domain, zone }) => ({ site_id: siteId, domain, time_zone: zone }))
  run.totals.requests += 2
  const [wanted, received] =
    expected.status === 200
      ? [
          [200, expected.warnings, expected.body, rows],
          [got.status, got.header('stats-warning')?.split('; ').length ?? 0, got.text, JSON.parse(listed.text).data],
        ]
      : [
          [expected.status, expected.code],
          [got.status, errorCode(got)],
        ]
  if (isDeepStrictEqual(wanted, received)) return
  report(run, got.status >= 500 ? 'failed' : 'wrong', world, [
    `GET /sites/overview?${new URLSearchParams(params.map(([name, value]) => [name, value]))}`,
    ...sites.map(({ zone, excludedCountries }) => `${zone}, excluded ${excludedCountries.join(' ') || 'nothing'}`),
    `expected ${wanted.join('  ')}`,
    `got      ${received.join('  ')}`,
  ])
}

/** Every fourth answered request is asked once more through /mcp. */
export async function compareCall({ run, world, site, api }: Opened, asked: Report, params: Params): Promise<void> {
  const expected = answer(site, asked, params, world.now)
  const call = expected.status === 200 && run.totals.requests % 4 === 0 ? callOf(asked, params) : undefined
  if (expected.status !== 200 || !call) return
  run.totals.calls += 1
  const difference = differenceOf(call, expected, await api.call(call))
  if (difference) report(run, 'wrong', world, [`${call.tool} ${JSON.stringify(call.input)}`, difference.slice(0, 1500)])
}

/** The response of a hundred years of days is long. */
function aroundTheFirstDifference(text: string, other: string): string {
  if (text.length < 2000) return text
  let position = 0
  while (position < text.length && text[position] === other[position]) position += 1
  return `… ${text.slice(Math.max(0, position - 500), position + 500)} …`
}

export function errorCode(response: Response): string {
  try {
    return JSON.parse(response.text).error.code
  } catch {
    return response.text
  }
}

/** All nine reports without an effective limit; undefined when one was refused, which `compare` has already reported. */
export async function compareAll(opened: Opened, params: Params): Promise<Answers | undefined> {
  const answers: Partial<Record<Report, unknown>> = {}
  for (const name of reports) answers[name] = await compare(opened, name, [...params, ['limit', '100']])
  return reports.every((name) => answers[name] !== undefined) ? (answers as unknown as Answers) : undefined
}
