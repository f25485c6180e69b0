// docs/api.md and docs/commands.md, from the tables the API and the command line themselves run on.
import type { describeApi } from '../../src/api/openapi.ts'
import { fieldsOf } from '../../src/api/reference/fields.ts'
import type { Command } from '../../src/cli/command.ts'
import { errors } from '../../src/errors.ts'

type Api = ReturnType<typeof describeApi>

export function apiPage(api: Api): string {
  const base = api.servers[0]?.url
  const endpoints = Object.entries(api.paths).map(([path, { get }]) => {
    const { schema, examples } = get.responses[200].content['application/json']
    const { summary, value } = examples.demo
    return `### GET ${base}${path}\n\n${get.summary}.\n\n${fieldTable(schema.properties.data)}\n\n${summary}:\n\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
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
  const codes = Object.entries(errors).map(([code, { status, message }]) => `| ${status} | \`${code}\` | ${message} |`)
  return `# API

*Made from the code by \`npm run docs\`. The same as a page to try calls on: \`${base}/docs\`; as OpenAPI 3.1: [openapi.json](openapi.json)
or \`${base}/openapi.json\`. What every number means: [decisions](decisions.md).*

${api.info.description}

## Endpoints

Every answer is \`{"data": …, "meta": …}\`. Fields of \`meta\`; \`limit\` is there where it applies:

${fieldTable(api.paths['/stats/pages']?.get.responses[200].content['application/json'].schema.properties.meta)}

${endpoints.join('\n\n')}

## Parameters

| Parameter | Meaning | Default | Example |
|---|---|---|---|
${parameters.join('\n')}

## Headers of answers

| Header | Meaning | Example |
|---|---|---|
${headers.join('\n')}

## Errors

\`{"error":{"code":"…","message":"…"}}\`, with the status below. What to do about each: [errors](errors.md).

| Status | Code | Message |
|---|---|---|
${codes.join('\n')}
`
}

const fieldTable = (schema: unknown): string =>
  [
    '| Field | Type | Meaning |',
    '|---|---|---|',
    ...fieldsOf(schema).map(({ name, type, description }) => `| \`${name}\` | ${type} | ${description} |`),
  ].join('\n')

export function commandsPage(commands: Record<string, Command | Record<string, Command>>): string {
  const all = Object.entries(commands).flatMap(([name, entry]): [string, Command][] =>
    typeof entry.run === 'function'
      ? [[name, entry as Command]]
      : Object.entries(entry as Record<string, Command>).map(([sub, command]) => [`${name} ${sub}`, command]),
  )
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

*Made from the code by \`npm run docs\`. Every command takes \`--help\`, and \`--json\` for programs; settings come from the environment or
from \`.env\` in the working directory ([configuration](configuration.md)).*

${sections.join('\n\n')}
`
}
