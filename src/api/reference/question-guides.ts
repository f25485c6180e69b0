// The sections around the endpoints of /api/v2. The tables come from those that questions are read with.
import { dimensions } from '../../stats/questions/dimensions.ts'
import { maxFilters } from '../../stats/questions/filters.ts'
import { metrics } from '../../stats/questions/metrics.ts'
import { html } from '../../web/html.ts'
import type { Api, Endpoint } from './description.ts'
import { type Guides, guide, quickStart, tablesOf } from './guides.ts'
import { prose, rows, table } from './parts.ts'

export const guidesOfQuestions = (api: Api, first: Endpoint): Guides => ({
  start: [
    quickStart(first, '@footfall/client/v2'),
    guide(
      'questions',
      'How to ask',
      html`<p>A question has numbers (<code>metrics</code>), a range, and filters. <a href="#totals">totals</a> answers it for the whole
range, <a href="#timeseries">timeseries</a> for each interval, <a href="#breakdown">breakdown</a> for each value of a dimension.</p>
<p>Where <a href="/api/v1/docs"><code>/api/v1</code></a> can be asked the same question, the numbers are the same. Keys, rate limits,
ranges, CSV, compression and caching work as they do there.</p>
<p>Visitors of a page, and where they came from: <code class="long">by=referrer&amp;filter=page:is:/pricing</code>. Their share that
signed up in the same visit: <code class="long">metrics=visitors,conversion_rate&amp;goal=Signup&amp;filter=page:is:/pricing</code>.</p>`,
    ),
    guide(
      'filters',
      'Filters',
      html`<p>A filter is <code>dimension:operator:value</code>. Send up to ${maxFilters}; all must hold. Several values,
separated by commas, are alternatives. <code>contains</code> and <code>starts_with</code> are literal, and upper and lower case differ.</p>
<p>A filter on a page or host chooses hits, a filter on an event, property or goal chooses visits. Filters on events and properties must
hold for one and the same event.</p>
${table(
  ['Filter', 'Keeps'],
  [
    [html`<code>page:is:/a,/b</code>`, 'what happened on either page'],
    [html`<code>page:starts_with:/blog/</code>`, 'what happened below /blog/'],
    [html`<code>referrer:is_not:</code>`, 'visits that have a referrer'],
    [html`<code>event:is:Signup</code>`, 'visits in which somebody signed up'],
    [html`<code>event:is_not:Signup</code>`, 'visits in which nobody did'],
    [html`<code>prop:plan:is:pro</code>`, 'visits with an event whose property plan is pro'],
    [html`<code>goal:is:Signup</code>`, 'visits that reached the goal'],
  ],
)}`,
    ),
    guide(
      'dimensions',
      'Dimensions',
      html`<p>What a list can be of, and what can be filtered.</p>${rows(
        ['Dimension', 'Belongs to', 'Meaning'],
        [
          ...dimensions,
          { name: 'prop:<key>', of: 'hit', meaning: 'Value of the property `<key>` of a custom event.' },
        ].map(({ name, of, meaning }) => ({
          id: `dimension.${name}`,
          names: [name],
          facts: of,
          meaning: prose(meaning),
        })),
      )}`,
    ),
    guide(
      'metrics',
      'Metrics',
      html`<p>What can be counted. Visitors, pageviews, sessions and events of a range are the sums of its days.</p>${rows(
        ['Metric', 'Unit', 'Meaning'],
        [
          ...metrics,
          {
            name: 'revenue:<currency>',
            unit: 'minor units',
            meaning:
              'Revenue in this currency, in its smallest unit: cents of `EUR`. Other currencies are not converted.',
          },
        ].map(({ name, unit, meaning }) => ({
          id: `metric.${name}`,
          names: [name],
          facts: unit,
          meaning: prose(meaning),
        })),
      )}`,
    ),
  ],
  lookUp: tablesOf(api),
  otherVersion: { href: '/api/v1/docs', title: 'Nine reports (/api/v1)' },
})
