// A reporter for `test/run.ts`: one JSON object about the whole run. One reporter, because each adds listeners to the same stream.
import { relative } from 'node:path'
import { late } from './in-time.ts'

export interface Summary {
  passed: number
  failed: number
  /** Files with a failed test. */
  wrong: string[]
  /** Files that only missed bounds of time (in-time.ts). */
  late: string[]
  /** The seconds of every file, longest first. */
  seconds: [file: string, seconds: number][]
}

interface TestEvent {
  type: string
  data: {
    file?: string
    nesting?: number
    details?: { duration_ms: number; error?: { message: string; failureType?: string } }
  }
}

export default async function* summary(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const [wrong, slow, seconds] = [new Set<string>(), new Set<string>(), new Map<string, number>()]
  let [passed, failed] = [0, 0]
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || !data.file) continue
    const file = relative(process.cwd(), data.file)
    if (type === 'test:fail' && data.details?.error?.failureType !== 'subtestsFailed') {
      ;(data.details?.error?.message.startsWith(late) ? slow : wrong).add(file)
    }
    if (data.nesting !== 0) continue
    if (type === 'test:pass') passed++
    else failed++
    seconds.set(file, (seconds.get(file) ?? 0) + (data.details?.duration_ms ?? 0) / 1_000)
  }
  const result: Summary = {
    passed,
    failed,
    wrong: [...wrong],
    late: [...slow.difference(wrong)],
    seconds: [...seconds].sort(([, one], [, other]) => other - one),
  }
  yield JSON.stringify(result)
}
