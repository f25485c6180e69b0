// Sends questions to the API, page by page, and reports every answer that differs from what the model expects.
import { isDeepStrictEqual } from 'node:util'
import { callOfQuestion, differenceOfQuestion } from './assistant.ts'
import { errorCode, type Opened, report } from './comparing.ts'
import { answerQuestion, remarksOnQuestion } from './question-model.ts'
import { type AskedQuestion, goals } from './question-requests.ts'

export async function compareQuestion(
  opened: Opened,
  { question, params }: AskedQuestion,
  limit: number,
): Promise<void> {
  const { run, world, site, api } = opened
  const expected = answerQuestion({ ...site, goals }, question, world.now)
  const remarks = remarksOnQuestion({ ...site, goals }, question, world.now)
  run.totals.questions += 1
  const rows: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = question.kind === 'breakdown' ? [['limit', `${limit}`] as const] : []
    const got = await api.ask(question.kind, [...params, ...page, ...(cursor ? [['cursor', cursor] as const] : [])])
    const answered = got.status === 200 ? JSON.parse(got.text) : undefined
    if (question.kind === 'breakdown' && answered) {
      rows.push(...answered.data)
      cursor = answered.meta.next_cursor
      if (cursor !== null) continue
    } else cursor = null
    const data = question.kind === 'breakdown' && answered ? rows : (answered?.data ?? errorCode(got))
    const unsaid =
      typeof expected === 'object' ? remarks.filter((one) => !got.header('stats-warning')?.includes(one)) : []
    if (isDeepStrictEqual(data, expected) && unsaid.length === 0) continue
    report(run, got.status >= 500 ? 'failed' : 'wrong', world, [
      `GET /api/v2/stats/${question.kind}?${new URLSearchParams(params.map(([name, value]) => [name, value]))}`,
      `excluded ${site.excludedCountries.join(' ') || 'nothing'}, source ${got.header('stats-source')}`,
      `expected ${JSON.stringify(expected).slice(0, 1500)}`,
      `got      ${JSON.stringify(data).slice(0, 1500)}`,
      ...unsaid.map((one) => `without the remark ${one} but ${got.header('stats-warning')}`),
    ])
  }
  await compareCall(opened, { question, params }, expected)
}

/** Every fourth answered question is asked once more through /mcp. */
async function compareCall({ run, world, api }: Opened, asked: AskedQuestion, expected: unknown): Promise<void> {
  const call = typeof expected === 'object' && run.totals.questions % 4 === 0 ? callOfQuestion(asked) : undefined
  if (!call) return
  run.totals.calls += 1
  const difference = differenceOfQuestion(call, expected, await api.call(call))
  if (difference) report(run, 'wrong', world, [`${call.tool} ${JSON.stringify(call.input)}`, difference.slice(0, 1500)])
}
