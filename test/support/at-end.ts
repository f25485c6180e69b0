// What is open for a whole test file is closed when the file has ended. `after` inside a test would close it with that test,
// so it is registered here, as the file is loaded; and only in a test file, because it makes any process a test run.
import { after } from 'node:test'

const endings: (() => unknown)[] = []

if (process.argv[1]?.endsWith('.test.ts')) {
  after(async () => {
    for (const end of endings.reverse()) await end()
  })
}

export const atEnd = (end: () => unknown): number => endings.push(end)
