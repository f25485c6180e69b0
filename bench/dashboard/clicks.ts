// What a click on a row takes: until the first numbers are on the page, and until all panels are. The first row of each list is clicked once
// in each round, at 30 days. There is no cache, so every click is like the first one.
import { round } from '../api/measure.ts'

/** Seconds that people wait without losing their thought: stated, not measured. */
const maxFirstMs = 700
const maxAllMs = 2_000

const dimensions = ['page', 'entry_page', 'referrer', 'country', 'device', 'browser', 'event'] as const

interface Page {
  address: string
  headers: Record<string, string>
}

/** The parts of the page come one after another, so the time until the numbers are in what has come so far. */
async function click({ address, headers }: Page): Promise<{ firstMs: number; allMs: number }> {
  const began = performance.now()
  const response = await fetch(address, { headers })
  let firstMs: number | undefined
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('id="metric-visitors"')) firstMs ??= performance.now() - began
  }
  if (firstMs === undefined || response.status !== 200 || /class="(fault|warning)/.test(text))
    throw new Error(`${address} failed with ${response.status}`)
  return { firstMs, allMs: performance.now() - began }
}

/** `firstRow` asks the API for the name of the first row of a list. */
export async function measureClicks({
  site,
  headers,
  rounds,
  firstRow,
}: {
  site: string
  headers: Record<string, string>
  rounds: number
  firstRow(dimension: string): Promise<string>
}) {
  const values = await Promise.all(dimensions.map(async (name) => [name, await firstRow(name)] as const))
  const times = new Map(dimensions.map((name) => [name, [] as Awaited<ReturnType<typeof click>>[]]))
  for (let nth = 0; nth < rounds; nth++)
    for (const [name, value] of values) {
      const query = new URLSearchParams({ range: '30d', filter: `${name}:is:${value}` })
      times.get(name)?.push(await click({ address: `${site}?${query}`, headers }))
    }
  const by = Object.fromEntries(
    Array.from(times, ([name, clicks]) => [
      name,
      { firstMs: spread(clicks.map(({ firstMs }) => firstMs)), allMs: spread(clicks.map(({ allMs }) => allMs)) },
    ]),
  )
  const slowest = (part: 'firstMs' | 'allMs') => Math.max(...Object.values(by).map((one) => one[part].median))
  return { by, ok: slowest('firstMs') <= maxFirstMs && slowest('allMs') <= maxAllMs }
}

function spread(times: readonly number[]): { least: number; median: number } {
  const sorted = times.toSorted((one, other) => one - other)
  return { least: round(sorted[0] as number, 0), median: round(sorted[sorted.length >> 1] as number, 0) }
}
