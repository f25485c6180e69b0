// A reporter for `test/run.ts`: prints the files with a failed test, one per line.
interface TestEvent {
  type: string
  data: { file?: string }
}

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const seen = new Set<string>()
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || !data.file || seen.has(data.file)) continue
    seen.add(data.file)
    yield `${data.file}\n`
  }
}
