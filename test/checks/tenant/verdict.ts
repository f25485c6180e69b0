// Whether an answer is the asked site's own: its words, its numbers, its id and its tag.
import type { Ask, KnownTags } from './asking.ts'
import type { Exclusions } from './exclusions.ts'
import { expectedData, type Question } from './expected.ts'
import { markPattern, type TrafficDays, type WatermarkedSite } from './watermarked-sites.ts'

export interface Received {
  status: number
  headers: NodeJS.Dict<string | string[]>
  body: string
  /** By `performance.now()`. */
  sentAt: number
  receivedAt: number
  /** UTC milliseconds. */
  sentOn: number
}

export interface Breaches {
  /** Words, ids or tags of another site. */
  foreign: number
  /** Numbers that are not the asked site's. */
  wrong: number
  /** A tag that stands for two answers, or matches where it must not. */
  tags: number
  /** A status that no request here deserves, or no answer at all. */
  unexpected: number
}

export interface Answered {
  fresh: number
  notModified: number
  /** With the last answer from before the engine went away. */
  last: number
  /** With 500 while the engine is away; */
  refused: number
  /** and at other times, which only a machine too busy for our deadlines should bring about. */
  late: number
}

export interface Judge {
  breaches: Breaches
  examples: string[]
  answered: Answered
  tags: KnownTags
  judge(ask: Ask, received: Received, engineIsDown: boolean): void
  /** Of a request that got no answer at all. */
  failed(ask: Ask, error: Error): void
}

export function openJudge(days: TrafficDays, exclusions: Exclusions): Judge {
  const breaches: Breaches = { foreign: 0, wrong: 0, tags: 0, unexpected: 0 }
  const answered: Answered = { fresh: 0, notModified: 0, last: 0, refused: 0, late: 0 }
  const examples: string[] = []
  /** What each tag stands for. */
  const meanings = new Map<string, { site: WatermarkedSite; question: string; data: string }>()
  const lastTags = new Map<string, string>()
  const placeOf = (site: WatermarkedSite, question: Question) => `${site.number} ${JSON.stringify(question)}`

  function breach(kind: keyof Breaches, ask: Ask, words: string): void {
    breaches[kind]++
    if (examples.length < 5)
      examples.push(`${kind}: site ${ask.site.number}, ${JSON.stringify(ask.question)}: ${words}`)
  }

  function judgeTag(ask: Ask, tag: string, data: string): void {
    const question = JSON.stringify(ask.question)
    const known = meanings.get(tag)
    if (known && known.site !== ask.site) breach('foreign', ask, `${tag} is a tag of site ${known.site.number}`)
    else if (known && known.data !== data) breach('tags', ask, `${tag} stands for ${known.data} and for ${data}`)
    meanings.set(tag, { site: ask.site, question, data })
    lastTags.set(placeOf(ask.site, ask.question), tag)
  }

  function judgeMatch(ask: Ask, tag: string, body: string): string | undefined {
    const known = meanings.get(tag)
    if (body !== '') breach('tags', ask, '304 with a body')
    if (!known) return void breach('tags', ask, `304 with ${tag}, which was never given`)
    if (known.site !== ask.site) return void breach('foreign', ask, `304 with a tag of site ${known.site.number}`)
    if (!ask.ifNoneMatch?.header.includes(tag)) breach('tags', ask, `304 with ${tag}, which was not sent`)
    if (known.question !== JSON.stringify(ask.question)) breach('tags', ask, `304 with a tag of ${known.question}`)
    return known.data
  }

  function judgeData(ask: Ask, data: string, { sentAt, receivedAt }: Received): void {
    const shown = ask.question.report === 'timeseries' ? withoutQuietDays(data) : data
    const allowed = exclusions.between(ask.site, sentAt, receivedAt)
    const right = allowed.some((excluded) => expectedData(ask.site, ask.question, excluded, days) === shown)
    if (!right) breach('wrong', ask, `${shown} with ${JSON.stringify(allowed)} excluded`)
  }

  return {
    breaches,
    examples,
    answered,
    tags: { of: (site, question) => lastTags.get(placeOf(site, question)) },
    judge(ask, received, engineIsDown) {
      const { status, headers, body, sentOn } = received
      const { site } = ask
      for (const mark of body.match(markPattern) ?? []) {
        if (mark !== site.mark) return breach('foreign', ask, `${mark} in ${body}`)
      }
      for (const id of `${body} ${JSON.stringify(headers)}`.match(/site_[a-z2-7]{16}/g) ?? []) {
        if (id !== site.id) return breach('foreign', ask, `${id} in ${body}`)
      }
      if (status === 500) return void (engineIsDown ? answered.refused++ : answered.late++)
      const tag = String(headers.etag)
      if (status === 304) {
        answered.notModified++
        const data = judgeMatch(ask, tag, body)
        if (data !== undefined) judgeData(ask, data, received)
        return
      }
      if (status !== 200) return breach('unexpected', ask, `${status} ${body}`)
      const { meta } = JSON.parse(body) as { meta: { site_id: string; generated_at: string } }
      if (meta.site_id !== site.id) return breach('foreign', ask, `site_id ${meta.site_id}`)
      if (Date.parse(meta.generated_at) < sentOn) answered.last++
      else answered.fresh++
      const data = body.slice('{"data":'.length, body.lastIndexOf(',"meta":'))
      judgeTag(ask, tag, data)
      judgeData(ask, data, received)
    },
    failed: (ask, error) => breach('unexpected', ask, `no answer: ${error.message}`),
  }
}

function withoutQuietDays(data: string): string {
  const days = JSON.parse(data) as { visitors: number; pageviews: number }[]
  return JSON.stringify(days.filter(({ visitors, pageviews }) => visitors > 0 || pageviews > 0))
}
