// Runs numbered cases. Each depends only on the seed and its number, so any of them can be run again.
import { seeded } from '../../support/random.ts'
import type { Check } from '../runner.ts'
import type { FuzzWorld } from './accounts.ts'
import type { Answer } from './answers.ts'
import { byteCase } from './bytes.ts'
import { Breakable, Pipeline, type Received } from './connection.ts'
import { codeOf, match, type Spent, wrongsOf, wrongsOfMatch } from './judge.ts'
import { verdictsOf } from './oracle.ts'
import { isOfVersion2, keyRequest, oddRequest, parameterRequest, type Request } from './requests.ts'

export const levels = ['bytes', 'http', 'parameters', 'keys'] as const
const makers = { http: oddRequest, parameters: parameterRequest, keys: keyRequest }

/** Of twenty cases. Pipelines of the other kinds are longer, so about a tenth of the requests are bytes. */
const shares = { bytes: 6, http: 4, parameters: 6, keys: 4 }
const lots = levels.flatMap((level) => Array.from({ length: shares[level] }, () => level))

export function createFuzzer({ check, world, port }: { check: Check; world: FuzzWorld; port: number }) {
  const counts = {
    sent: 0,
    answers: 0,
    compared: 0,
    differences: 0,
    questions: 0,
    levels: {} as Record<string, number>,
    statuses: {} as Record<string, number>,
  }
  const spent = new Map<string, Spent>()

  function see(answer: Answer): void {
    counts.answers++
    counts.statuses[answer.status] = (counts.statuses[answer.status] ?? 0) + 1
  }

  function report(kind: string, number: number, sent: string, got: string): void {
    check.fault(kind, `case ${number}`, `sent ${JSON.stringify(cut(sent))}`, `got  ${cut(got)}`)
  }

  /** Checks everything about the response to one well-formed request. */
  function judge(number: number, level: string, request: Request, answer: Answer): void {
    see(answer)
    const withBody = request.method !== 'HEAD'
    const got = `${answer.status} ${JSON.stringify([...answer.headers])} ${answer.body}`
    const verdicts = verdictsOf(request, world)
    for (const wrong of wrongsOf(answer, withBody, verdicts[0]?.isOutside)) report(wrong, number, request.bytes, got)
    counts.compared++
    if (isOfVersion2(request)) counts.questions++
    const verdict = match(answer, verdicts, withBody)
    if (!verdict) {
      counts.differences++
      const wanted = verdicts.map(({ status, code }) => `${status} ${code ?? ''}`).join(' or ')
      const was = `${answer.status} ${codeOf(answer) ?? ''}`
      check.fault(
        `oracle: ${was.trim()} instead of ${wanted.trim()}`,
        `case ${number}, ${level}`,
        `sent ${JSON.stringify(cut(request.bytes))}`,
      )
    } else {
      for (const wrong of wrongsOfMatch(answer, verdict, withBody)) report(wrong, number, request.bytes, got)
    }
    const key = verdicts[0]?.counted
    if (!key) return
    const sofar = spent.get(key.id) ?? { counted: 0, refused: 0, least: key.limit }
    if (answer.status === 429) sofar.refused++
    else sofar.counted++
    sofar.least = Math.min(sofar.least, Number(answer.headers.get('x-ratelimit-remaining') ?? key.limit))
    spent.set(key.id, sofar)
  }

  function judgeAll(
    number: number,
    level: string,
    requests: readonly Request[],
    { answers, broken, rest }: Received,
    tail = '',
  ): void {
    for (const [at, answer] of answers.entries()) judge(number, level, requests[at] as Request, answer)
    const bytes = requests.map((request) => request.bytes).join('') + tail
    if (broken)
      report(
        `${broken} after ${answers.length} of ${requests.length} answers`.replace(/\d+/g, 'some'),
        number,
        bytes,
        rest,
      )
    if (rest !== '') report('unexpected bytes', number, bytes, rest)
  }

  async function runBytes(number: number, random: ReturnType<typeof seeded>): Promise<number> {
    const { name, good, tail, outcome, next } = byteCase(random, world)
    const connection = new Breakable(port)
    const { answers, after, broken, rest } = await connection.send(good, tail, next)
    connection.destroy()
    if (next === 'reset') return good.length + 1
    judgeAll(number, `bytes, before ${name}`, good, { answers, rest, ...(broken && { broken }) }, tail)
    if (broken) return good.length + 1
    for (const answer of after) {
      see(answer)
      // Only the bytes show whether there was a body: an empty one may belong to a HEAD.
      const withBody = answer.body !== '' || answer.status >= 400
      for (const wrong of wrongsOf(answer, withBody && outcome === 'refused')) report(wrong, number, tail, answer.body)
    }
    const [refusal, ...more] = after
    const isRefusal =
      refusal?.status === 400 &&
      codeOf(refusal) === 'invalid_parameter' &&
      more.length === 0 &&
      !refusal.headers.has('x-ratelimit-limit')
    if (outcome === 'refused' && !isRefusal) {
      report(
        `not refused once: ${name}`,
        number,
        tail,
        after.map(({ status, body }) => `${status} ${body}`).join(' | '),
      )
    }
    return good.length + 1
  }

  return {
    counts,
    spent,
    /** Opens a connection. The lane runs one case at a time on it and returns the number of requests it sent. */
    openLane() {
      let pipeline = new Pipeline(port)
      return async (number: number): Promise<number> => {
        const random = seeded(`${check.seed}/${number}`)
        const level = random.pick(lots)
        let size: number
        if (level === 'bytes') {
          size = await runBytes(number, random)
        } else {
          const requests: Request[] = []
          const longest = 1 + random.below(24)
          while (requests.length < longest && !requests.at(-1)?.isLast) requests.push(makers[level](random, world))
          if (!pipeline.isOpen) pipeline = new Pipeline(port)
          const received = await pipeline.exchange(requests, random.oneIn(40) ? random : undefined)
          judgeAll(number, level, requests, received)
          if (received.broken || received.rest !== '') pipeline.destroy()
          size = requests.length
        }
        counts.sent += size
        counts.levels[level] = (counts.levels[level] ?? 0) + size
        return size
      }
    },
  }
}

const cut = (text: string): string => (text.length > 900 ? `${text.slice(0, 700)} … ${text.slice(-200)}` : text)
