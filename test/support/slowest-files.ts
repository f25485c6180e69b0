// A reporter for `test/run.ts`: prints the files that took longest, so that everybody sees where the time goes.
interface TestEvent {
  type: string
  data: { file?: string; nesting?: number; details?: { duration_ms: number } }
}

const shown = 8

export default async function* slowestFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const seconds = new Map<string, number>()
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting !== 0 || !data.file) continue
    seconds.set(data.file, (seconds.get(data.file) ?? 0) + (data.details?.duration_ms ?? 0) / 1_000)
  }
  const slowest = [...seconds].sort(([, one], [, other]) => other - one).slice(0, shown)
  yield `Slowest files: ${slowest.map(([file, took]) => `${file.replace(/^.*?\/test\//, '')} ${Math.round(took)} s`).join(', ')}\n`
}
