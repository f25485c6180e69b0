// A reader of server-sent events, as the standard describes them.
import { eventually } from './eventually.ts'

interface Message {
  event: string
  data: string
}

export interface EventStreamReader {
  status: number
  headers: Headers
  /** All that came so far. */
  messages: Message[]
  comments: string[]
  /** The last `retry:`, in milliseconds. */
  retryMs: number | undefined
  isOver: boolean
  /** Resolves when the stream has ended, whoever ended it. */
  over: Promise<void>
  /** Waits for the first message that this is true of, also among those that came already. */
  find(isIt: (message: Message) => boolean): Promise<Message>
  close(): void
}

export async function readEventStream(url: string, headers: Record<string, string>): Promise<EventStreamReader> {
  const leaving = new AbortController()
  const response = await fetch(url, { headers, signal: leaving.signal, redirect: 'manual' })
  const reader: EventStreamReader = {
    status: response.status,
    headers: response.headers,
    messages: [],
    comments: [],
    retryMs: undefined,
    isOver: false,
    over: Promise.resolve(),
    async find(isIt) {
      return eventually(async () => {
        const found = reader.messages.find(isIt)
        if (!found) throw new Error(`No such message among ${reader.messages.length}`)
        return found
      })
    },
    close: () => leaving.abort(),
  }
  reader.over = readAll()
  return reader

  async function readAll(): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for await (const chunk of response.body ?? []) {
        const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
        rest = parts.pop() ?? ''
        for (const part of parts) take(part)
      }
    } catch {} // closed or broken: it is over in both cases
    reader.isOver = true
  }

  function take(part: string): void {
    const lines = part.split('\n')
    const valuesOf = (name: string) =>
      lines.flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []))
    reader.comments.push(...lines.filter((line) => line.startsWith(':')))
    const [retry] = valuesOf('retry')
    if (retry !== undefined) reader.retryMs = Number(retry)
    const data = valuesOf('data')
    if (data.length > 0) reader.messages.push({ event: valuesOf('event')[0] ?? 'message', data: data.join('\n') })
  }
}
