// The reference at /api/v1/docs: rendered once from the description of the API, without anything from elsewhere, so that it
// works on a machine without internet. `reference.js` adds trying calls with a key.
import type { describeApi } from '../openapi.ts'
import { fieldsOf } from './fields.ts'

type Api = ReturnType<typeof describeApi>
type Operation = Api['paths'][string]['get']

export function referencePage(api: Api): string {
  const operations = Object.entries(api.paths).map(([path, { get }]) => ({ path, operation: get }))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(api.info.title)}</title>
<link rel="stylesheet" href="docs/reference.css">
<script src="docs/reference.js" defer></script>
</head>
<body>
<nav>
  <a class="brand" href="#top">Footfall</a>
  ${operations.map(({ operation }) => `<a href="#${operation.operationId}">${operation.operationId}</a>`).join('\n  ')}
  <hr>
  <a href="#meta">meta</a>
  <a href="#parameters">Parameters</a>
  <a href="#headers">Headers</a>
  <a href="#errors">Errors</a>
  <a href="openapi.json">openapi.json</a>
</nav>
<main id="top">
  <header>
    <h1>${escapeHtml(api.info.title)}</h1>
    <p class="lead">${escapeHtml(api.info.summary)}</p>
    ${api.info.description
      .split('\n\n')
      .map((paragraph) => `<p>${prose(paragraph)}</p>`)
      .join('\n    ')}
    <form class="key"><label>API key, to try calls from this page
      <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="ff_s_…">
    </label></form>
    <p class="quiet">It stays in this page and is sent only to this server. Calls made here count against its limit.</p>
  </header>
  ${operations.map(({ path, operation }) => section(path, operation, api)).join('\n')}
  ${metaSection(api)}
  ${parametersSection(api)}
  ${headersSection(api)}
  ${errorsSection(api)}
  <p class="quiet">Countries: <a href="https://db-ip.com">IP Geolocation by DB-IP</a></p>
</main>
</body>
</html>
`
}

function section(path: string, operation: Operation, api: Api): string {
  const { schema, examples } = operation.responses[200].content['application/json']
  const { summary, value } = examples.demo
  return `<section id="${operation.operationId}">
    <h2><code>GET ${api.servers[0]?.url}${path}</code></h2>
    <p>${escapeHtml(operation.summary)}.</p>
    <form class="try" data-path="${api.servers[0]?.url}${path}">
      ${Object.values(api.components.parameters).map(field).join('\n      ')}
      <button>Try it</button>
    </form>
    <pre class="answer" hidden></pre>
    <h3>Fields of <code>data</code></h3>
    ${fieldTable(schema.properties.data)}
    <h3>Example</h3>
    <p class="quiet">${escapeHtml(summary)}</p>
    <pre>${escapeHtml(JSON.stringify(value, null, 2))}</pre>
  </section>`
}

const fieldTable = (schema: unknown): string =>
  `<table>${fieldsOf(schema)
    .map(({ name, type, description }) =>
      row(
        `<code>${escapeHtml(name)}</code>`,
        `${prose(description)}<br><span class="quiet">${escapeHtml(type)}</span>`,
      ),
    )
    .join('')}</table>`

function field(parameter: Api['components']['parameters'][string]): string {
  const { name, schema } = parameter
  const { enum: words, default: standard } = schema as { enum?: readonly string[]; default?: string | number }
  const control = words
    ? `<select name="${name}"><option value="">${escapeHtml(String(standard ?? 'any'))}</option>${words
        .map((word) => `<option>${escapeHtml(word)}</option>`)
        .join('')}</select>`
    : `<input name="${name}" placeholder="${escapeHtml(String(standard ?? parameter.example ?? ''))}">`
  return `<label>${name} ${control}</label>`
}

const metaSection = (api: Api): string => `<section id="meta">
    <h2>Fields of <code>meta</code></h2>
    ${fieldTable(api.paths['/stats/pages']?.get.responses[200].content['application/json'].schema.properties.meta)}
    <p class="quiet"><code>limit</code> is there where it applies: on pages, referrers, devices, geo, events and utm.</p>
  </section>`

const parametersSection = (api: Api): string => `<section id="parameters">
    <h2>Parameters</h2>
    <p>Every endpoint takes all of them. A wrong value is refused, never changed; whatever had no effect is named in <code>Stats-Warning</code>.</p>
    <table>${Object.values(api.components.parameters)
      .map(({ name, description, example, schema }) => {
        const { default: standard, enum: words } = schema as { default?: string | number; enum?: readonly string[] }
        const shown = example ?? standard ?? words?.[0]
        const facts = [
          ...(words ? [`values ${words.join(', ')}`] : []),
          ...(standard === undefined ? [] : [`default ${standard}`]),
          ...(shown === undefined ? [] : [`for example \`${name}=${shown}\``]),
        ]
        return row(
          `<code>${name}</code>`,
          `${prose(description)}<br><span class="quiet">${prose(facts.join('; '))}</span>`,
        )
      })
      .join('')}</table>
  </section>`

const headersSection = (api: Api): string => `<section id="headers">
    <h2>Headers of answers</h2>
    <table>${Object.entries(api.components.headers)
      .map(([name, header]) => {
        const example = 'example' in header ? `<br><code>${escapeHtml(header.example)}</code>` : ''
        return row(`<code>${name}</code>`, `${escapeHtml(header.description)}${example}`)
      })
      .join('')}</table>
  </section>`

const errorsSection = (api: Api): string =>
  `<section id="errors"><h2>Errors</h2><table>${Object.entries(api.components.responses)
    .flatMap(([status, { content }]) =>
      Object.entries(content['application/json'].examples).map(([code, { value }]) =>
        row(`<code>${status} ${code}</code>`, `<code>${escapeHtml(JSON.stringify(value))}</code>`),
      ),
    )
    .join('')}</table></section>`

const row = (head: string, body: string) => `<tr><th>${head}</th><td>${body}</td></tr>`

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Escaped text in which `this` is code. */
const prose = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
