// `npm run docs` writes every generated document. A test fails while one of them is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { describeApi } from '../../src/api/openapi.ts'
import { commands, tasks } from '../../src/cli/commands.ts'
import { summariesOf } from '../../src/cli/help.ts'
import { variables } from '../../src/config.ts'
import { clientFiles } from './client.ts'
import { demoExamples } from './examples.ts'
import { apiPage, commandsPage, configurationPage } from './pages.ts'
import { scaleFiles } from './scale-page.ts'
import { newSchemaFiles } from './schema-files.ts'

const root = new URL('../../', import.meta.url)

/** The text of each generated file. */
export function generatedFiles(examples: Record<string, unknown>): Record<string, string> {
  const api = describeApi(examples)
  return {
    'src/api/reference/examples.json': `${JSON.stringify(examples, null, 2)}\n`,
    'docs/openapi.json': `${JSON.stringify(api, null, 2)}\n`,
    'docs/api.md': apiPage(api),
    ...clientFiles(api),
    'docs/commands.md': commandsPage(commands),
    'src/cli/summaries.json': `${JSON.stringify(summariesOf(tasks), null, 2)}\n`,
    'docs/configuration.md': configurationPage(variables),
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
  const files = { ...generatedFiles(await demoExamples()), ...(await newSchemaFiles()) }
  for (const [path, text] of Object.entries(files)) writeFileSync(new URL(path, root), text)
}
