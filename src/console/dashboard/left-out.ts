// Days of the chart that are not in its numbers: only sums of another product are known of them, and these cannot answer its question
// (decision D-245). The chart hatches them, so that nobody takes them for days without visitors.
import type { LeftOutDays } from '../../rollups/imported-days.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import type { Point } from './series.ts'

/** Neighbouring points that lack days for the same reason. */
export interface Hatched {
  from: number
  to: number
  why: string
}

export function hatchedOf(points: readonly Point[], leftOut: readonly LeftOutDays[]): Hatched[] {
  const hatched: Hatched[] = []
  for (const [index, { slot }] of points.entries()) {
    const [first, last] = [String(slot.first), String(slot.last)]
    const reason = leftOut.find(({ days }) => days.some(([from, to]) => from <= last && first <= to))
    const before = hatched.at(-1)
    if (reason && before?.why === reason.why && before.to === index - 1) before.to = index
    else if (reason) hatched.push({ from: index, to: index, why: reason.why })
  }
  return hatched
}

/** From the middle of the gap before to the middle of the gap behind. `x` is in percent of the width, `top` and `bottom` in pixels. */
export function hatching(
  hatched: readonly Hatched[],
  { x, step }: { x(index: number): number; step: number },
  { top, bottom }: { top: number; bottom: number },
): HtmlValue {
  if (hatched.length === 0) return false
  return html`<defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch" d="M0 0V8"/></pattern></defs>
${hatched.map(({ from, to, why }) => {
  const left = Math.max(0, x(from) - step / 2)
  const right = Math.min(100, x(to) + step / 2)
  return html`<rect class="left-out" x="${percent(left)}" width="${percent(right - left)}" y="${top}" height="${bottom - top}" fill="url(#hatch)"><title>${sentenceOf(why)}</title></rect>`
})}`
}

const percent = (share: number): string => `${Math.round(share * 100) / 100}%`

const sentenceOf = (why: string): string => `Left out, because ${why}.`

/** Below the chart. */
export const hatchedNote = (hatched: readonly Hatched[]): HtmlValue =>
  hatched.length > 0 &&
  html`<p class="hatched-note"><i></i>${[...new Set(hatched.map(({ why }) => sentenceOf(why)))].join(' ')}</p>`

export const isHatched = (hatched: readonly Hatched[], index: number): boolean =>
  hatched.some(({ from, to }) => from <= index && index <= to)

export const leftOutMark: Html = html` <span class="soft">left out</span>`
