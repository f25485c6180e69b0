// `npm run docs`: writes every document that is made from the code. A test fails while one of them is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { describeApi } from '../../src/api/openapi.ts'
import { commands } from '../../src/cli/commands.ts'
import { demoExamples } from './examples.ts'
import { apiPage, commandsPage } from './pages.ts'
import { scaleFiles } from './scale-page.ts'

const root = new URL('../../', import.meta.url)

/** What each generated file should hold. */
export function generatedFiles(examples: Record<string, unknown>): Record<string, string> {
  const api = describeApi(examples)
  return {
    'src/api/reference/examples.json': `${JSON.stringify(examples, null, 2)}\n`,
    'docs/openapi.json': `${JSON.stringify(api, null, 2)}\n`,
    'docs/api.md': apiPage(api),
    'docs/commands.md': commandsPage(commands),
    ...scaleFiles(readFileSync(new URL('docs/scale.json', root), 'utf8')),
  }
}

/** The files that are out of date. */
export const staleFiles = (examples: Record<string, unknown>): string[] =>
  Object.entries(generatedFiles(examples))
    .filter(([path, text]) => readOrEmpty(path) !== text)
    .map(([path]) => path)

function readOrEmpty(path: string): string {
  try {
    return readFileSync(new URL(path, root), 'utf8')
  } catch {
    return ''
  }
}

if (import.meta.main) {
  const examples = await demoExamples()
  for (const [path, text] of Object.entries(generatedFiles(examples))) writeFileSync(new URL(path, root), text)
}
