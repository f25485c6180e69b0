// The sections before and after the endpoints: how to begin, what applies to every call, and tables of errors, headers and countries. Their
// figures come from the tables that the API itself uses.
import { readFileSync } from 'node:fs'
import { plans } from '../../accounts/plans.ts'
import { periodsOf, type Range, rangeNames } from '../../calendar/periods.ts'
import { errors } from '../../errors.ts'
import { countryNames } from '../../traffic/country.ts'
import { type Html, html } from '../../web/html.ts'
import { codeCard, samplesCard } from './cards.ts'
import type { Api, Endpoint } from './description.ts'
import { prose, rows, section, table } from './parts.ts'

const dashboardSource = readFileSync(new URL('dashboard.js', import.meta.url), 'utf8')

export interface Guide {
  id: string
  title: string
  section: Html
}

/** The sections around the endpoints of one version. */
export interface Guides {
  start: readonly Guide[]
  lookUp: readonly Guide[]
  otherVersion: { href: string; title: string }
}

export const guide = (id: string, title: string, text: Html, codes?: Html): Guide => ({
  id,
  title,
  section: section(id, title, text, codes),
})

export const guidesOfReports = (api: Api, first: Endpoint): Guides => ({
  start: startGuides(first),
  lookUp: lookUpGuides(api),
  otherVersion: { href: '/api/v2/docs', title: 'Questions (/api/v2)' },
})

export const quickStart = (first: Endpoint, client: string): Guide =>
  guide(
    'quick-start',
    'Quick start',
    html`<ol>
<li>Create a key in the settings of your site, under <b>API keys</b>. It is shown once.</li>
<li>Keep it where your programs can read it: <code>export KEY=ff_s_…</code></li>
<li>Send it with every request, as in the example.</li>
</ol>
<p>Every endpoint is a GET request and answers JSON: <code>data</code> has the numbers, <code>meta</code> says what they are
about. Choose your language once; all examples follow. They need nothing but Node or Python. The client is
<code>${client}</code>: one typed function per endpoint.</p>`,
    samplesCard(first, 'quick-start'),
  )

/** Before the endpoints. */
const startGuides = (first: Endpoint): Guide[] => [
  quickStart(first, '@footfall/client'),
  guide(
    'keys',
    'Keys',
    html`<p>A site key (<code>ff_s_…</code>) reads one site. An account key (<code>ff_a_…</code>) reads all sites of an account: name
the site with <code>site_id</code>. Both go into the header <code>Authorization: Bearer &lt;API_KEY&gt;</code>.</p>
<p>Whoever has a key reads all statistics of its sites, so keep it out of pages and apps that others can open. Browsers may
call the API from any origin, for pages that only you open.</p>
<p>Where this page asks for a key, it keeps it in this tab until you close it and sends it only to this server. Calls from
here count like any others.</p>`,
  ),
  guide(
    'numbers',
    'What the numbers mean',
    html`<p>A visitor is counted once per day, because nothing links two days. So the visitors of a range are the sum of its days, and the rows of
<a href="#timeseries">timeseries</a> add up to <a href="#overview">overview</a>.</p>
<p>Countries that the site owner has excluded are left out of every answer. No parameter is needed for this, and none changes it.</p>
<p>This version only gains fields. Questions that it cannot answer, such as the referrers of a page, are answered by
<a href="/api/v2/docs"><code>/api/v2</code></a> with the same keys.</p>`,
  ),
  guide(
    'ranges',
    'Ranges and time zones',
    html`<p>Days are calendar days of the site’s own time zone. Ranges end now, and what they are compared with ends at the same time
of an earlier day. <code>Stats-Period</code> and <code>Stats-Previous-Period</code> name the exact limits of every answer.
For a site in ${zone} on ${now.toPlainDate().toString()} at ${now.toPlainTime().toString({ smallestUnit: 'minute' })}:</p>
${table(['Range', 'Covers', 'Compared with'], rangeRows())}`,
  ),
  guide(
    'rate-limits',
    'Rate limits',
    html`<p>Requests are counted per key, in windows of one hour that begin with the first request. Answers name the limit, what is
left and when the window ends: <a href="#X-RateLimit-Limit"><code>X-RateLimit-…</code></a>. After
<a href="#rate_limit_exceeded"><code>429</code></a>, wait for <code>Retry-After</code> seconds.</p>
${table(
  ['Plan', 'Requests per hour'],
  Object.entries(plans).map(([name, plan]) => [
    name,
    plan ? plan.requestsPerHour.toLocaleString('en') : 'no API access',
  ]),
)}`,
  ),
  guide(
    'formats',
    'CSV and caching',
    html`<p>Lists are also there as CSV: send <code>Accept: text/csv</code>. Answers are compressed for clients that accept
<code>zstd</code>, <code>br</code> or <code>gzip</code>.</p>
<p>Answers to calls with a key have an <code>ETag</code>. Send it back as <code>If-None-Match</code>: while nothing has
changed, the answer is <code>304</code> without a body. It counts as a request.</p>`,
  ),
]

const zone = 'Europe/Berlin'
/** The current time in the example answers. */
const now = Temporal.Instant.from('2026-11-15T12:00:00Z').toZonedDateTimeISO(zone)

function rangeRows() {
  return rangeNames.map((name) => {
    const [firstDay, lastDay] = ['2026-10-01', '2026-10-31'].map((day) => Temporal.PlainDate.from(day)) as [
      Temporal.PlainDate,
      Temporal.PlainDate,
    ]
    const range: Range = name === 'custom' ? { name, firstDay, lastDay } : { name }
    const { current, previous } = periodsOf(range, now)
    const label =
      name === 'custom'
        ? html`<code>custom</code><br><span class="soft">${firstDay.toString()} to<br>${lastDay.toString()}</span>`
        : html`<code>${name}</code>`
    return [label, ...[current, previous].map(({ start, end }) => html`${instant(start)} to<br>${instant(end)}`)]
  })
}

const instant = (at: Temporal.ZonedDateTime): string =>
  at.toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ')

/** After the endpoints of every version. */
export const tablesOf = (api: Api): Guide[] => [
  guide('errors', 'Errors', errorsText),
  guide(
    'headers',
    'Response headers',
    rows(
      ['Header', 'Meaning'],
      Object.entries(api.components.headers).map(([name, { description, example }]) => ({
        id: name,
        names: [name],
        meaning: [prose(description), example !== undefined && html`<br><code class="long">${example}</code>`],
      })),
    ),
  ),
]

const lookUpGuides = (api: Api): Guide[] => [
  ...tablesOf(api),
  guide(
    'country-codes',
    'All country codes',
    html`<p>The codes that <code>country</code> takes, and the names that <a href="#geo">countries</a> shows. <code>ZZ</code> is for
addresses without a known country. Programs read the same table at <a href="#countries"><code>/api/v1/countries</code></a>.</p>
<table class="countries"><thead class="unseen"><tr><th scope="col">Code</th><th scope="col">Name</th></tr></thead><tbody>${Object.entries(
      countryNames,
    ).map(
      ([code, name]) => html`<tr id="country.${code}"><th scope="row">${code}</th><td>${name}</td></tr>`,
    )}</tbody></table>`,
  ),
  guide(
    'dashboard',
    'A dashboard in 30 lines',
    html`<p>A page with your numbers, a chart and three lists, for everybody you show it to. It is a small server, because the key
must not reach their browsers. You need Node and nothing else. Each view of the page makes five requests.</p>
${codeCard('dashboard.mjs', 'javascript', dashboardSource.trimEnd())}`,
  ),
]

const errorsText = html`<p>An error has the body <code class="long">{"error": {"code": "…", "message": "…"}}</code>. Decide by
<code>code</code>. <code>message</code> is for people: it often says more, and its wording may change. Of several faults the
API reports the first in this list, after 404 and 405.</p>
${rows(
  ['Code', 'Status', 'What to do'],
  Object.entries(errors).map(([code, { status, message, whatToDo }]) => ({
    id: code,
    names: [code],
    facts: html`<span class="status ${status < 500 ? 'refused' : 'bad'}">${status}</span>`,
    meaning: html`${prose(whatToDo)} <span class="said">“${message}”</span>`,
  })),
)}`
