import Type from 'typebox'
import type { Overview } from '../../stats/reports/overview.ts'
import {
  changes,
  describe,
  metricLines,
  metrics,
  metricUnits,
  namePeriod,
  periodText,
  previousPeriod,
  subject,
  subjectText,
  units,
} from '../answers.ts'
import { findSite, input, query, readQuery } from '../inputs.ts'
import { tool } from '../tool.ts'

export const overview = tool({
  name: 'overview',
  title: 'Overview',
  description:
    'Visitors, pageviews, sessions, bounce rate and average duration of one site in a range, compared with as many days before it.',
  input: input(query),
  output: Type.Object({
    ...subject,
    previous_period: previousPeriod,
    current: metrics,
    previous: metrics,
    change: changes,
    units,
  }),
  async run(request, call) {
    const site = await findSite(request.site, call)
    const parameters = readQuery(request, site, call.now)
    const answer = await call.source.read('overview', site.id, parameters, call.signal)
    const { current, previous, change } = answer.data as Overview
    const about = describe(site, parameters, answer, call.now)
    const before = namePeriod(answer.previousPeriod ?? answer.period, site.timeZone, call.now)
    return {
      data: {
        ...about,
        previous_period: before,
        current,
        previous,
        change,
        units: { ...metricUnits, change: 'percent' },
      },
      text: `${subjectText(about)}\n${metricLines(current, previous, change, 'before')}\nbefore: ${periodText(before)}`,
    }
  },
})
