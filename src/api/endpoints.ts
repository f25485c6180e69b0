// Every endpoint for the reference and for generated clients: the nine reports, and our additions to the contract (docs/contract.md 4.2).
// The shapes here also serialise the answers.
import Type, { type TProperties, type TSchema } from 'typebox'
import { parameterNames } from '../stats/parameters.ts'
import type { Report } from '../stats/report.ts'
import { reports } from '../stats/reports.ts'
import { domain, siteId } from '../stats/shapes.ts'
import { sitesOverviewShape } from '../stats/sites-overview.ts'
import { countryNames } from '../traffic/country.ts'
import { exampleQuery, type ParameterKey } from './openapi-text.ts'

export interface Endpoint {
  path: string
  /** The name of its function in generated clients, and of its example. */
  id: string
  tag: string
  summary: string
  details?: string | undefined
  data: TSchema
  meta: TProperties
  /** The parameters that have an effect. */
  parameters: readonly string[]
  /** Response headers, in addition to those of every endpoint with a key. */
  headers: readonly string[]
  /** What the example shows. */
  example: string
  /** Needs no key and is not counted. */
  isOpen?: true
  /** Its answer does not end: the data and what it is about come in messages, as server-sent events. */
  isStream?: true
}

/** Names of this version only. */
interface OwnEndpoint extends Endpoint {
  tag: keyof typeof tags
  parameters: readonly ParameterKey[]
}

export const tags = {
  Statistics: 'The statistics of a site.',
  Sites: 'All sites that a key may read.',
  Countries: 'Codes and names of countries.',
} as const

export const aboutSite = Type.String({ description: 'The site that the numbers are about.' })
export const generatedAt = Type.String({ format: 'date-time', description: 'When the numbers were computed, in UTC.' })
export const range = Type.String({ description: 'The range that was applied.' })
export const limit = Type.Integer({ description: 'The limit that was applied.' })
export const nextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'The cursor of the next page; null on the last page.',
})
export const listedAt = Type.String({ format: 'date-time', description: 'When the list was made, in UTC.' })

const endpointOf = ([name, report]: [string, Report]): OwnEndpoint => ({
  path: `/stats/${name}`,
  id: name,
  tag: 'Statistics',
  summary: report.summary,
  details: report.details,
  data: report.data,
  meta: {
    site_id: aboutSite,
    range,
    ...(report.limited && { limit }),
    generated_at: generatedAt,
  },
  parameters: parameterNames,
  headers: [
    'Stats-Period',
    ...(report.comparesPeriods ? ['Stats-Previous-Period'] : []),
    ...(report.limited ? ['Stats-Total-Rows'] : []),
  ],
  example: `A demo site, with ${exampleQuery(report)}`,
})

export const sitesShape = Type.Array(
  Type.Object({
    site_id: siteId,
    domain,
    time_zone: Type.String({
      description: 'Time zone of the site, as an IANA name: its days begin at midnight there.',
    }),
  }),
)

export const countries = Object.entries(countryNames).map(([code, name]) => ({ code, name }))

const added: readonly OwnEndpoint[] = [
  {
    path: '/sites',
    id: 'sites',
    tag: 'Sites',
    summary: 'The sites that the key may read, by domain',
    details:
      'An account key reads all sites of the account, a site key its own. Use `site_id` of a row in the other calls.',
    data: sitesShape,
    meta: {
      limit: Type.Union([Type.Integer(), Type.Null()], {
        description: 'The limit that was applied; null without one: the page has all sites that are left.',
      }),
      next_cursor: nextCursor,
      generated_at: listedAt,
    },
    parameters: ['limit_of_list', 'cursor', 'site_id_of_many'],
    headers: [],
    example: 'An account with a demo site',
  },
  {
    path: '/sites/overview',
    id: 'sitesOverview',
    tag: 'Sites',
    summary: 'Totals of the period for all sites that the key may read, by domain, as one request',
    details:
      'Every row has the numbers that `overview` of the site has. Each site has its own time zone, so the same range begins at another moment; `period` names it.',
    data: sitesOverviewShape,
    meta: {
      range,
      limit,
      next_cursor: nextCursor,
      generated_at: generatedAt,
    },
    parameters: [
      ...parameterNames.filter((name) => name !== 'limit' && name !== 'site_id'),
      'limit_of_sites',
      'cursor',
      'site_id_of_many',
    ],
    headers: [],
    example: 'An account with a demo site, with range=7d',
  },
  {
    path: '/countries',
    id: 'countries',
    tag: 'Countries',
    summary: 'The country codes that the filter takes, with their names in full, by code',
    details: 'The list hardly ever changes: read it once and keep it.',
    data: Type.Array(
      Type.Object({
        code: Type.String({ description: 'Two-letter code of ISO 3166-1, or XK for Kosovo, or ZZ for unknown.' }),
        name: Type.String({ description: 'Name in English, as geo returns it.' }),
      }),
    ),
    meta: { generated_at: listedAt },
    parameters: [],
    headers: [],
    example: 'The first three rows',
    isOpen: true,
  },
]

export const endpoints: readonly Endpoint[] = [...Object.entries<Report>(reports).map(endpointOf), ...added]
