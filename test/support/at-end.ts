// Closes resources that a whole test file shares when the file ends. Inside a test, `after` would close them at the end of that test; so
// it is called here, while the file loads. Only a test file may import this: calling `after` makes any process a test run.
import { after } from 'node:test'

const endings: (() => unknown)[] = []

if (process.argv[1]?.endsWith('.test.ts')) {
  after(async () => {
    for (const end of endings.reverse()) await end()
  })
}

export const atEnd = (end: () => unknown): number => endings.push(end)
