import Type, { type TSchema } from 'typebox'
import { ApiError, type ErrorCode } from '../../errors.ts'
import type { Fields, QuestionAnswer } from '../../stats/source.ts'
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

interface Compared {
  previous: Numbers
  change: Changes
}

const ifCompared = <Part extends TSchema>(part: Part) =>
  Type.Union([part, Type.Null()], { description: 'null without a comparison; warnings say why.' })

export const overview = tool({
  name: 'overview',
  title: 'Overview',
  description:
    'The numbers of one site in a range, compared with as many days before it: visitors, pageviews, sessions, bounce rate and average duration, or any other metrics.',
  input: input({ ...query, ...counted }),
  output: Type.Object({
    ...subject,
    previous_period: ifCompared(previousPeriod),
    current: metrics,
    previous: ifCompared(metrics),
    change: ifCompared(changes),
    units,
  }),
  async run(request, call) {
    const site = await findSite(request.site, call)
    const fields = fieldsOf(request, site, call.now)
    const answer = await comparedIfPossible((more) =>
      call.source.ask('totals', site.id, [...fields, ...more], call.signal),
    )
    const { previous = null, change = null, ...current } = answer.data as Partial<Compared> & Numbers
    const about = describe(site, answer, call.now)
    const before = previous && namePeriod(answer.previousPeriod ?? answer.period, site.timeZone, call.now)
    const compared = previous && change && { numbers: previous, change, called: 'before' }
    return {
      data: {
        ...about,
        previous_period: before,
        current,
        previous,
        change,
        units: { ...unitsOf(Object.keys(current)), ...(compared && { change: 'percent' }) },
      },
      text: `${subjectText(about)}\n${metricLines(current, compared)}${before ? `\nbefore: ${periodText(before)}` : ''}`,
    }
  },
})

/** Why a range that can be read alone may be refused together with the days before it. */
const reasons: Partial<Record<ErrorCode, string>> = {
  range_not_kept: 'single visits of the days before are no longer kept',
  query_too_expensive: 'reading the days before as well would take too long',
}

/** An assistant cannot leave out the comparison, so a question that is only refused because of it is asked without. */
async function comparedIfPossible(ask: (more: Fields) => Promise<QuestionAnswer>): Promise<QuestionAnswer> {
  try {
    return await ask([['compare', 'previous']])
  } catch (error) {
    const reason = error instanceof ApiError ? reasons[error.code] : undefined
    if (reason === undefined) throw error
    const answer = await ask([])
    return { ...answer, warnings: [...answer.warnings, `there is no comparison, because ${reason}`] }
  }
}
