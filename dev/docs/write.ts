// `npm run docs` writes every generated document. A test fails while one of them is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { describeApi, describeQuestions } from '../../src/api/openapi.ts'
import { loadTasks } from '../../src/cli/commands.ts'
import { summariesOf } from '../../src/cli/help.ts'
import { variables } from '../../src/config.ts'
import { clientFiles } from './client.ts'
import { type DemoExamples, demoExamples } from './examples.ts'
import { apiPage, commandsPage, configurationPage, questionsTexts, reportsTexts } from './pages.ts'
import { peersFiles } from './peers-page.ts'
import { scaleFiles } from './scale-page.ts'
import { newSchemaFiles } from './schema-files.ts'

const root = new URL('../../', import.meta.url)
const tasks = await loadTasks()

/** The text of each generated file. */
export function generatedFiles({ reports, questions }: DemoExamples): Record<string, string> {
  const api = describeApi(reports)
  const questionsApi = describeQuestions(questions)
  return {
    'src/api/reference/examples.json': asJson(reports),
    'src/api/reference/question-examples.json': asJson(questions),
    'docs/openapi.json': asJson(api),
    'docs/openapi-v2.json': asJson(questionsApi),
    'docs/api.md': apiPage(api, reportsTexts),
    'docs/api-v2.md': apiPage(questionsApi, questionsTexts),
    ...clientFiles(api, 'index'),
    ...clientFiles(questionsApi, 'v2'),
    'docs/commands.md': commandsPage(tasks),
    'src/cli/summaries.json': asJson(summariesOf(tasks)),
    'docs/configuration.md': configurationPage(variables),
    ...peersFiles(readFileSync(new URL('docs/peers.json', root), 'utf8')),
    ...scaleFiles(readFileSync(new URL('docs/scale.json', root), 'utf8')),
  }
}

const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** The files that are out of date. */
export const staleFiles = (examples: DemoExamples): string[] =>
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
