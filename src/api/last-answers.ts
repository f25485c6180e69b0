// The last answer to each question, for the minutes in which the engine does not answer: the same bytes with the same
// generated_at, at most ten minutes old (decision D-66). It is asked for nothing else.

export interface Answer {
  body: string
  etag: string
  /** The Stats- headers that belong to it. */
  headers: Record<string, string>
  /** UTC milliseconds. */
  generatedAt: number
}

export interface LastAnswers {
  keep(question: string, answer: Answer): void
  find(question: string, now: number): Answer | undefined
}

const longestMs = 10 * 60_000

export function rememberAnswers(mostBytes = 32 * 1024 * 1024): LastAnswers {
  const answers = new Map<string, Answer>()
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
      if (size > mostBytes / 8) return
      answers.set(question, answer)
      bytes += size
      while (bytes > mostBytes) drop(answers.keys().next().value as string)
    },
    find(question, now) {
      const answer = answers.get(question)
      return answer && now - answer.generatedAt <= longestMs ? answer : undefined
    },
  }
}

/** Roughly what it takes in memory: two bytes a character at worst, and the entry itself. */
const sizeOf = (question: string, { body }: Answer): number => 2 * (question.length + body.length) + 500
