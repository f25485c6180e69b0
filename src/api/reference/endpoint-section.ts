// The section of one endpoint: its purpose, its parameters, the fields of its answer, and code beside them.
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { exampleCard, samplesCard, tryCard } from './cards.ts'
import { type Endpoint, type Parameter, type Schema, typeOf } from './description.ts'
import { fieldsOf } from './fields.ts'
import { prose, type Row, rows, section } from './parts.ts'

export function endpointSection(endpoint: Endpoint): Html {
  const { id, title, path, operation, parameters, data, meta } = endpoint
  return section(
    id,
    title,
    html`<p class="route"><span class="verb">GET</span> <code>${path}</code></p>
<p>${prose(operation.summary)}. ${prose(operation.description ?? '')}</p>
${
  parameters.length > 0 &&
  html`<h3>Parameters</h3>${rows(
    ['Parameter', 'Type', 'Meaning'],
    parameters.map((one) => parameterRow(id, one)),
  )}`
}
<h3>${data.items ? 'Each row of' : 'Fields of'} <code>data</code></h3>${fieldTable(id, 'data', data)}
<h3>Fields of <code>meta</code></h3>${fieldTable(id, 'meta', meta)}`,
    [samplesCard(endpoint), tryCard(endpoint), exampleCard(endpoint)],
  )
}

function parameterRow(endpoint: string, { name, description, schema, example }: Parameter): Row {
  const { default: standard, enum: words } = schema as Schema
  return {
    id: `${endpoint}.${name}`,
    names: [name],
    facts: [typeOf(schema as Schema), standard !== undefined && html`, default <code>${standard}</code>`],
    meaning: [
      prose(description),
      name === 'country' && html` <a href="#country-codes">All codes</a>.`,
      words && !words.every((word) => description.includes(word)) && [' One of ', list(words), '.'],
      example !== undefined && html` For example <code>${name}=${example}</code>.`,
    ],
  }
}

const list = (words: readonly string[]): HtmlValue =>
  words.map((word, index) => html`${index > 0 && ', '}<code>${word}</code>`)

const fieldTable = (endpoint: string, part: string, schema: Schema): Html =>
  rows(
    ['Field', 'Type', 'Unit', 'Meaning'],
    fieldsOf(schema, part).map(({ names, path, within, type, unit, description }) => ({
      id: `${endpoint}.${path}`,
      names,
      depth: within.length,
      facts: type,
      unit,
      meaning: prose(description),
    })),
  )
