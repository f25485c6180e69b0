import Type from 'typebox'
import { sql, text, texts, uint } from '../../stores/clickhouse-sql.ts'
import { forLongLists, hitFacts } from '../facts.ts'
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
      title: Type.String({ description: 'The latest title seen for the path; empty if none was.' }),
      views,
      visitors,
    }),
  ),
  async read(clickhouse, query, signal) {
    const rows = await clickhouse.rows<Row>(
      sql`
        SELECT value AS pathname, sum(views) AS views, sum(visitors) AS visitors
        FROM ${hitFacts(query, 'page')}
        GROUP BY value
        HAVING visitors > 0
        ORDER BY views DESC, visitors DESC, pathname
        LIMIT ${uint(query.limit)}
        ${forLongLists}`,
      signal,
    )
    if (rows.length === 0) return []
    // A second question for the rows that are returned: joined in the first, the titles of all pages would be read.
    const titles = await clickhouse.rows<{ pathname: string; title: string }>(
      sql`
        SELECT pathname, max(latest).title AS title
        FROM titles
        WHERE site_id = ${text(query.siteId)} AND pathname IN ${texts(rows.map(({ pathname }) => pathname))}
        GROUP BY pathname`,
      signal,
    )
    const titleOf = new Map(titles.map(({ pathname, title }) => [pathname, title]))
    return rows.map((row) => ({ ...row, title: titleOf.get(row.pathname) ?? '' }))
  },
}
