import Type from 'typebox'
import {
  type Changes,
  changes,
  describe,
  metricLines,
  metrics,
  type Numbers,
  namePeriod,
  periodText,
  previousPeriod,
  subject,
  subjectText,
  units,
  unitsOf,
} from '../answers.ts'
import { counted, fieldsOf, findSite, input, query } from '../inputs.ts'
import { tool } from '../tool.ts'

export const overview = tool({
  name: 'overview',
  title: 'Overview',
  description:
    'The numbers of one site in a range, compared with as many days before it: visitors, pageviews, sessions, bounce rate and average duration, or any other metrics.',
  input: input({ ...query, ...counted }),
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
    const fields = [...fieldsOf(request, site, call.now), ['compare', 'previous']] as const
    const answer = await call.source.ask('totals', site.id, fields, call.signal)
    const { previous, change, ...current } = answer.data as { previous: Numbers; change: Changes } & Numbers
    const about = describe(site, answer, call.now)
    const before = namePeriod(answer.previousPeriod ?? answer.period, site.timeZone, call.now)
    return {
      data: {
        ...about,
        previous_period: before,
        current,
        previous,
        change,
        units: { ...unitsOf(Object.keys(current)), change: 'percent' },
      },
      text: `${subjectText(about)}\n${metricLines(current, previous, change, 'before')}\nbefore: ${periodText(before)}`,
    }
  },
})
