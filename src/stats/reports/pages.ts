import Type from 'typebox'
import { sql, uint } from '../../stores/clickhouse-sql.ts'
import { dailyMetrics, forLongLists, readList, totalRows } from '../daily-metrics.ts'
import type { Report } from '../report.ts'
import { views, visitors } from '../shapes.ts'
import { readTitles } from '../titles.ts'

interface Row {
  pathname: string
  views: number
  visitors: number
}

export const pages: Report = {
  summary: 'The most visited pages, by views',
  details: 'Paths are compared without query and fragment. With equal views, the page with more visitors comes first.',
  limited: true,
  lists: [{ list: 'page', metrics: ['visitors', 'pageviews'] }],
  showsTitles: true,
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
    const list = await readList<Row>(
      clickhouse,
      sql`
        SELECT value AS pathname, sum(views) AS views, sum(visitors) AS visitors, ${totalRows}
        FROM ${dailyMetrics(query, 'page')}
        GROUP BY value
        HAVING visitors > 0
        ORDER BY views DESC, visitors DESC, pathname
        LIMIT ${uint(query.limit)}
        ${forLongLists}`,
      signal,
    )
    if (list.data.length === 0) return list
    // A second query for the returned rows only: a join in the first would read the titles of all pages.
    const titleOf = await readTitles(
      clickhouse,
      query,
      list.data.map(({ pathname }) => pathname),
      signal,
    )
    return {
      ...list,
      data: list.data.map(({ pathname, ...counts }) => ({ pathname, title: titleOf.get(pathname) ?? '', ...counts })),
    }
  },
}
