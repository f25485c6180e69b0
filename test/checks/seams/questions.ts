// Random questions of version 2 about the sites of a walk, as the oracle asks them about its worlds.
import { isDeepStrictEqual } from 'node:util'
import type { Random } from '../../support/random.ts'
import type { Site } from '../oracle/model.ts'
import type { Question } from '../oracle/question-hits.ts'
import { answerQuestion } from '../oracle/question-model.ts'
import { type AskedQuestion, pickQuestion } from '../oracle/question-requests.ts'
import { currentWindow } from '../oracle/windows.ts'
import type { Installation } from './installation.ts'
import { type Model, nothing, sitesOf } from './model.ts'

export interface SiteQuestion extends AskedQuestion {
  siteId: string
}

/** Three for each site. */
export const questionsFor = (model: Model, now: number, random: Random): SiteQuestion[] =>
  sitesOf(model).flatMap(({ siteId, zone, events, goals }) => {
    const some = Array.from({ length: 3 }, () => pickQuestion(random, { zone, now, events }, goals))
    return some.flatMap((asked) => (asked ? [{ siteId, ...asked }] : []))
  })

/** Of a list, so many rows are compared. */
const maxRows = 1_000

/** No lines if the answer is the expected one. */
export async function compareQuestion(
  installation: Installation,
  model: Model,
  now: number,
  { siteId, question, params }: SiteQuestion,
): Promise<{ isAnswered: boolean; lines: string[] }> {
  const site = sitesOf(model).find((one) => one.siteId === siteId)
  if (!site) return { isAnswered: true, lines: [] }
  const limit = question.kind === 'breakdown' ? [['limit', `${maxRows}`] as const] : []
  const query = new URLSearchParams([...params, ...limit].map(([name, value]) => [name, value]))
  const path = `/v2/stats/${question.kind}?${query}`
  const { status, text } = await installation.get(path, site.key)
  const expected = answerQuestion(site, question, now)
  const isAnswered = status < 500
  if (isAnswered) {
    const { data, error } = JSON.parse(text) as { data?: unknown; error?: { code: string } }
    const compared = question.kind === 'breakdown' && Array.isArray(expected) ? expected.slice(0, maxRows) : expected
    const isRefused = error?.code === 'range_not_kept' && mayBeDropped(site, question, model, now)
    if (isRefused || isDeepStrictEqual(data ?? error?.code, compared)) return { isAnswered, lines: [] }
  }
  const lines = [
    `GET ${path}`,
    `expected ${JSON.stringify(expected).slice(0, 600)}`,
    `got ${status} ${text.slice(0, 600)}`,
  ]
  return { isAnswered, lines }
}

/** Whether the question is about days whose visits retention has dropped. */
function mayBeDropped(site: Site, question: Question, { settings }: Model, now: number): boolean {
  const window = currentWindow(question.dates.range, question.dates, site.zone, now)
  if (window === 'invalid_date') return false
  const isCompared = question.compare !== undefined && settings.eventsFrom !== nothing.settings.eventsFrom
  return isCompared || (window.dates[0] as string) < settings.eventsFrom
}
