import Type from 'typebox'
import { type Sql, sql, text, texts, uint } from '../../stores/clickhouse-sql.ts'
import { forLongLists, hitFacts } from '../facts.ts'
import { readList, totalRows } from '../lists.ts'
import type { StatsQuery } from '../query.ts'
import type { Report } from '../report.ts'
import { views, visitors } from '../shapes.ts'

interface Row {
  pathname: string
  views: number
  visitors: number
}

export const pages: Report = {
  summary: 'The most visited pages, by views',
  limited: true,
  data: Type.Array(
    Type.Object({
      pathname: Type.String({ description: 'Path of the page, without query and fragment.' }),
      title: Type.String({
        description:
          'The latest title seen for the path, over all time and whatever the filters; empty if there is none.',
      }),
      views,
      visitors,
    }),
  ),
  async read(clickhouse, query, signal) {
    const found = await readList<Row>(
      clickhouse,
      sql`
        SELECT value AS pathname, sum(views) AS views, sum(visitors) AS visitors, ${totalRows}
        FROM ${hitFacts(query, 'page')}
        GROUP BY value
        HAVING visitors > 0
        ORDER BY views DESC, visitors DESC, pathname
        LIMIT ${uint(query.limit)}
        ${forLongLists}`,
      signal,
    )
    if (found.data.length === 0) return found
    // A second question for the rows that are returned: joined in the first, the titles of all pages would be read.
    const titles = await clickhouse.rows<{ pathname: string; title: string }>(
      sql`
        SELECT pathname, (max((country != '', latest)).2).title AS title
        FROM titles
        WHERE ${titleScope(query)} AND pathname IN ${texts(found.data.map(({ pathname }) => pathname))}
        GROUP BY pathname`,
      signal,
    )
    const titleOf = new Map(titles.map(({ pathname, title }) => [pathname, title]))
    return {
      ...found,
      data: found.data.map(({ pathname, ...counts }) => ({ pathname, title: titleOf.get(pathname) ?? '', ...counts })),
    }
  },
}

/**
 * A page has one title, whatever the filters; but visitors from an excluded country do not name it (decision D-18). A title without a
 * country is older than the column, and comes last.
 */
const titleScope = ({ siteId, excludedCountries }: StatsQuery): Sql =>
  excludedCountries.length > 0
    ? sql`site_id = ${text(siteId)} AND NOT has(${texts(excludedCountries)}, country)`
    : sql`site_id = ${text(siteId)}`
