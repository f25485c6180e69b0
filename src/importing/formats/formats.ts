import { headOf } from '../content.ts'
import { accessLog } from './access-log.ts'
import type { Format } from './format.ts'
import { goatcounter } from './goatcounter.ts'
import { matomo } from './matomo.ts'
import { csv, jsonl } from './own.ts'
import { umami } from './umami.ts'

/** The products first: their files have columns that say who wrote them. */
export const formats: readonly Format[] = [umami, goatcounter, matomo, accessLog, csv, jsonl]

/** The kind of a file by its name or, better, by what it begins with. */
export function formatOf(path: string, name: string): Format | undefined {
  const head = headOf(path)
  return (
    formats.find((format) => format.isKnownBy(head)) ??
    formats.find((format) => name.replace(/\.gz$/, '').endsWith(`.${format.name}`))
  )
}
