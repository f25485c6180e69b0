// Checks that a statement about several sites reads these and no others, each with its own days, versions and exclusions.
import type { Statement } from '../../../src/stores/clickhouse-sql.ts'
import type { CountryCode } from '../../../src/traffic/country.ts'
import type { PlannedQuery } from '../../support/planned-query.ts'

const tables = /\b(?:FROM|JOIN) (events|short_rollups|long_rollups|today_rollups|titles|[a-z_]+\.\w+|\w+)/g

const rollupPairs =
  /\(site_id, rollup_key\) IN arrayZip\(\{(p\d+):Array\(String\)\}, (?:arrayMap\(key -> concat\(key, \{(p\d+):String\}\), )?\{(p\d+):Array\(String\)\}/g
const excludedPairs =
  /\(site_id, toString\(country\)\) IN arrayZip\(\{(p\d+):Array\(String\)\}, \{(p\d+):Array\(String\)\}/g

/** Every fault of a statement for these queries, which have the same filters. */
export function faultsOfSites({ text, parameters }: Statement, queries: readonly PlannedQuery[]): string[] {
  const flat = text.replace(/\s+/g, ' ')
  const faults: string[] = []
  const asked = new Map(queries.map((query) => [query.siteId, query]))
  const arrayOf = (name: string | undefined): string[] => (parameters[name ?? ''] ?? []) as string[]
  const must = (holds: boolean, otherwise: string) => void (holds || faults.push(otherwise))

  // Every array that becomes a column or a condition on site_id names our sites only.
  const named = [...flat.matchAll(/\{(p\d+):Array\(String\)\} AS site_id|site_id IN \{(p\d+):Array\(String\)\}/g)]
  for (const [, column, condition] of named)
    for (const id of arrayOf(column ?? condition)) must(asked.has(id), `names ${id}`)

  const places = [...flat.matchAll(tables)]
  for (const [index, { 1: table = '', index: at }] of places.entries()) {
    const own = flat.slice(at, places[index + 1]?.index)
    if (table === 'events') {
      // The joined table of windows decides which sites are read at all, and a condition which days of each.
      must(own.startsWith('FROM events INNER JOIN ('), 'events without windows')
      must(/ WHERE \(\(site_id IN \{p\d+:Array\(String\)\} AND /.test(own), 'events without sites')
    } else if (table === 'short_rollups' || table === 'today_rollups') {
      must(/ WHERE \(site_id, rollup_key\) IN arrayZip\(/.test(own), `${table} without sites`)
    } else faults.push(`reads ${table}`)
  }

  // A rollup is read under a version of its own site, and for the host of the filter.
  const { hostname } = queries[0]?.filters ?? {}
  for (const [, ids, host, keys] of flat.matchAll(rollupPairs)) {
    must(host === undefined ? hostname === undefined : parameters[host] === hostname, 'another host')
    for (const [index, id] of arrayOf(ids).entries()) {
      const [query, key = ''] = [asked.get(id), arrayOf(keys)[index]]
      must(query !== undefined && isReadable(key, query), `${id} is read under ${key}`)
    }
  }
  for (const [, ids, countries] of flat.matchAll(excludedPairs)) {
    for (const [index, id] of arrayOf(ids).entries()) {
      const code = arrayOf(countries)[index] as CountryCode
      must(asked.get(id)?.excludedCountries.includes(code) ?? false, `${id} excludes ${code}`)
    }
  }
  const isExcluding = queries.some(({ excludedCountries }) => excludedCountries.length > 0)
  must(!isExcluding || flat.includes('(site_id, toString(country)) IN arrayZip('), 'no exclusions')
  return faults
}

function isReadable(key: string, { versions, today }: PlannedQuery): boolean {
  const [, version] = /^(?:day|month|part) (\d+) total \d+ $/.exec(key) ?? []
  return [...versions, ...(today ? [today] : [])].some((known) => known.version === Number(version))
}
