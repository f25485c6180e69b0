// Generates docs/api.md, docs/api-v2.md, docs/commands.md and docs/configuration.md from the tables that Footfall itself uses.
import type { describeApi } from '../../src/api/openapi.ts'
import type { Schema } from '../../src/api/reference/description.ts'
import { fieldsOf } from '../../src/api/reference/fields.ts'
import { type Commands, linesOf } from '../../src/cli/commands.ts'
import type { variables } from '../../src/config.ts'
import { errors } from '../../src/errors.ts'

type Api = ReturnType<typeof describeApi>

/** What differs between the pages of two versions. */
interface VersionTexts {
  title: string
  description: string
  /** Says which endpoints have these fields of `meta`. */
  meta: string
  /** The endpoint with all of them. */
  metaOf: string
  more: string
}

export const reportsTexts: VersionTexts = {
  title: 'API',
  description: 'openapi.json',
  meta: 'These are the fields of `meta` of a report; only reports with a limit have `limit`:',
  metaOf: '/stats/pages',
  more: '[Metrics](metrics.md) says what every number means. [Questions](questions.md) says how to ask what these endpoints cannot answer.',
}

export const questionsTexts: VersionTexts = {
  title: 'API, version 2',
  description: 'openapi-v2.json',
  meta: 'These are the fields of `meta` of a question; only lists have `limit` and `next_cursor`:',
  metaOf: '/stats/breakdown',
  more: '[Questions](questions.md) shows how to ask, and [metrics](metrics.md) says what every number means.',
}

export function apiPage(api: Api, texts: VersionTexts): string {
  const metaOf = api.paths[texts.metaOf]?.get
  const base = api.servers[0]?.url
  const endpoints = Object.entries(api.paths).map(([path, { get }]) => {
    const { schema, examples } = contentOf(get)
    const { summary, value } = examples.demo
    const meta = path.startsWith('/stats/') ? '' : `\n\nFields of \`meta\`:\n\n${fieldTable(schema.properties.meta)}`
    return `### GET ${base}${path}\n\n${get.summary}.${get.description ? ` ${get.description}` : ''}\n\n${fieldTable(schema.properties.data)}${meta}\n\n${summary}:\n\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
  })
  const parameters = Object.values(api.components.parameters).map(({ name, description, schema, example }) => {
    const { default: standard, enum: words } = schema as { default?: string | number; enum?: readonly string[] }
    const shown = example ?? standard ?? words?.[0]
    return `| \`${name}\` | ${description} | ${standard === undefined ? '' : `\`${standard}\``} | ${shown === undefined ? '' : `\`${name}=${shown}\``} |`
  })
  const headers = Object.entries(api.components.headers).map(
    ([name, header]) =>
      `| \`${name}\` | ${header.description} | ${'example' in header ? `\`${header.example}\`` : ''} |`,
  )
  const codes = api.components.schemas.Error.properties.error.properties.code.enum.map((code) => {
    const { status, message } = errors[code]
    return `| ${status} | \`${code}\` | ${message} |`
  })
  return `# ${texts.title}

*Generated from the code by \`npm run docs\`. You can try calls on the reference page, \`${base}/docs\`. The OpenAPI 3.1 description is
[${texts.description}](${texts.description}) or \`${base}/openapi.json\`. ${texts.more}*

${api.info.description}

## Endpoints

Every response is \`{"data": …, "meta": …}\`. ${texts.meta}

${fieldTable(metaOf && contentOf(metaOf).schema.properties.meta)}

${endpoints.join('\n\n')}

## Parameters

| Parameter | Meaning | Default | Example |
|---|---|---|---|
${parameters.join('\n')}

## Response headers

| Header | Meaning | Example |
|---|---|---|
${headers.join('\n')}

## Errors

An error has the body \`{"error":{"code":"…","message":"…"}}\` and the status below. [Errors](errors.md) says what to do about each.

| Status | Code | Message |
|---|---|---|
${codes.join('\n')}
`
}

type Operation = NonNullable<Api['paths'][string]>['get']

/** An answer is JSON, or a stream whose messages are. */
const contentOf = ({ responses }: Operation) =>
  Object.values(responses[200].content)[0] as NonNullable<(typeof responses)[200]['content'][string]>

const fieldTable = (schema: unknown): string =>
  [
    '| Field | Type | Unit | Meaning |',
    '|---|---|---|---|',
    ...fieldsOf(schema as Schema, '').map(
      ({ names, within, type, unit, description }) =>
        `| \`${[...within, names.join(', ')].join(': ')}\` | ${type} | ${unit} | ${description} |`,
    ),
  ].join('\n')

export function commandsPage(tasks: Readonly<Record<string, Commands>>): string {
  const all = Object.values(tasks).flatMap(linesOf)
  const sections = all.map(([name, { summary, usage, options, optionHelp, examples }]) => {
    const flags = Object.keys(options ?? {}).map((option) => `- \`--${option}\`: ${optionHelp?.[option] ?? ''}`)
    return [
      `## footfall ${name}`,
      `${summary}.`,
      `\`\`\`\n${['footfall', name, usage].join(' ').trimEnd()}\n\`\`\``,
      ...(flags.length > 0 ? [flags.join('\n')] : []),
      ...(examples ? [examples.map((example) => `    ${example}`).join('\n')] : []),
    ].join('\n\n')
  })
  return `# Commands

*Generated from the code by \`npm run docs\`. Every command takes \`--help\`, and \`--json\` for output that programs can read. Settings come from
the environment and from one file ([configuration](configuration.md)); \`--env-file <file>\` names it for any command.*

${sections.join('\n\n')}
`
}

export function configurationPage(settings: typeof variables): string {
  const rows = Object.entries<{ description: string; default?: string; optional?: boolean }>(settings).map(
    ([name, { description, default: standard, optional }]) => {
      const unset = optional ? 'none, may stay unset' : 'none, required'
      return `| \`${name}\` | ${standard === undefined ? unset : `\`${standard}\``} | ${description.replaceAll('|', '\\|')} |`
    },
  )
  return `# Configuration

*Generated from \`src/config.ts\` by \`npm run docs\`.*

Settings are environment variables. A process reads them once, when it starts. An empty variable counts as unset. If a setting is missing or wrong,
the process does not start and names all such settings at once.

What the environment does not have comes from exactly one file: the one after \`--env-file\`, else \`.env\` in the current folder, else \`/etc/footfall.env\`. Every
command reads it, and so do \`npm start\`, \`npm run collect\` and \`npm run console\` (\`npm start -- --env-file …\`). \`footfall doctor\` names the file it has read.
A line is \`NAME=value\` or a comment that begins with \`#\`. A value is taken as it is, without the quotes around it. Footfall refuses a file with other lines, or
with names that are not in the table, and says which lines. \`npm run try\`, \`npm run dev\` and all tests read no file, nor does anything with
\`FOOTFALL_NO_ENV_FILE=1\` in its environment.

| Variable | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`
}
