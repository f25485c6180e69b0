// Answers that were given, to be given again instead of asking the engine: the same bytes with the same generated_at. One about
// settled days stays right until an event for one of them or a fold is noted; any other is good for five seconds (decision D-78), and
// for ten minutes while the engine does not answer (decision D-66).
export interface Answer {
  body: string
  etag: string
  /** The Stats- headers that belong to it. */
  headers: Record<string, string>
  /** What Stats-Warning says of its numbers, whoever asks. */
  warnings: readonly string[]
  /** UTC milliseconds. */
  generatedAt: number
  /** When the engine was asked: later than that instant where open days were counted a moment before (decision D-81). */
  askedAt: number
  /** What was known of the site's days then: when that changes it is another question. */
  state: string
  /** It is about settled days alone: no event that is written without a note can change it. */
  settled: boolean
}

export interface Answers {
  keep(question: string, answer: Answer): void
  /** One that is as good as asking now. */
  fresh(question: string, state: string, now: number): Answer | undefined
  /** One for the time in which the engine does not answer. */
  last(question: string, now: number): Answer | undefined
  /** Runs the work once for all who ask the same at the same time; its signal aborts when the last of them has left. */
  share(question: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Answer>): Promise<Answer>
}

const freshMs = 5_000
const longestMs = 10 * 60_000
/** For outages there is always some room, also when answers are not given again otherwise. */
const leastBytes = 32 * 1024 * 1024

/** With no bytes, every request asks the engine for itself. */
export function createAnswers(mostBytes: number): Answers {
  const isOn = mostBytes > 0
  const room = Math.max(mostBytes, leastBytes)
  const answers = new Map<string, Answer>()
  const underWay = new Map<string, Shared>()
  let bytes = 0

  function drop(question: string): void {
    const answer = answers.get(question)
    if (!answer) return
    bytes -= sizeOf(question, answer)
    answers.delete(question)
  }

  return {
    keep(question, answer) {
      drop(question)
      const size = sizeOf(question, answer)
      if (size > room / 8) return
      answers.set(question, answer)
      bytes += size
      while (bytes > room) drop(answers.keys().next().value as string)
    },
    fresh(question, state, now) {
      const answer = isOn ? answers.get(question) : undefined
      if (!answer || answer.state !== state) return undefined
      return answer.settled || Math.abs(now - answer.askedAt) < freshMs ? answer : undefined
    },
    last(question, now) {
      const answer = answers.get(question)
      return answer && now - answer.generatedAt <= longestMs ? answer : undefined
    },
    share(question, signal, work) {
      if (!isOn) return work(signal)
      const known = underWay.get(question)
      const shared = known ?? begin(work)
      if (!known) {
        underWay.set(question, shared)
        const end = () => {
          if (underWay.get(question) === shared) underWay.delete(question)
        }
        shared.giveUp = end
        shared.answer.then(end, end)
      }
      return join(shared, signal)
    },
  }
}

interface Shared {
  answer: Promise<Answer>
  waiting: number
  abort: AbortController
  /** Nobody may join any more. */
  giveUp(): void
}

function begin(work: (signal: AbortSignal) => Promise<Answer>): Shared {
  const abort = new AbortController()
  return { answer: work(abort.signal), waiting: 0, abort, giveUp: () => {} }
}

/** Waits for the shared answer until one's own request is given up. */
async function join(shared: Shared, signal: AbortSignal): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = () => reject(signal.reason)
  shared.waiting++
  signal.addEventListener('abort', leave, { once: true })
  try {
    signal.throwIfAborted()
    return await Promise.race([shared.answer, promise])
  } finally {
    signal.removeEventListener('abort', leave)
    shared.waiting--
    if (shared.waiting === 0 && signal.aborted) {
      shared.giveUp()
      shared.abort.abort(signal.reason)
    }
  }
}

/** Roughly what it takes in memory: two bytes a character at worst, and the entry itself. */
const sizeOf = (question: string, { body, state }: Answer): number =>
  2 * (question.length + body.length + state.length) + 500
