import { headOf } from '../content.ts'
import type { SumsFormat } from './format.ts'
import { ga4 } from './ga4.ts'
import { plausible } from './plausible.ts'

export const sumsFormats: readonly SumsFormat[] = [plausible, ga4]

/** The kind of a file of daily sums. Undefined: it has none. */
export function sumsFormatOf(path: string): SumsFormat | undefined {
  const head = headOf(path)
  return sumsFormats.find((format) => format.isKnownBy(path, head))
}

/** Whether an import was of daily sums, by what `--from` calls its files. */
export const isOfSums = (kind: string): boolean => sumsFormats.some(({ name }) => name === kind)
