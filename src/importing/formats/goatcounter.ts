// GoatCounter's export (docs/migrate/goatcounter.md), version 2: paths without a host, and the name of an event in place of its path. The
// same session is the same visitor.
import { LineFault, readLines } from '../lines.ts'
import { attempt, type FileRecord, readCsv } from '../records.ts'
import type { Format, LeftOut } from './format.ts'
import { browserCalled, countryCalled, fieldsOf, systemCalled } from './names.ts'

export const goatcounter: Format = {
  name: 'goatcounter',
  isKnownBy: (head) => /^\d+Path,Title,Event,/.test(head),
  read,
  leavesOutBrokenLines: true,
}

async function* read(content: AsyncIterable<Buffer>, domain: string): AsyncGenerator<FileRecord | LeftOut | LineFault> {
  for await (const row of readCsv(readLines(content), checkHeader))
    yield row instanceof LineFault ? row : attempt(row.line, () => recordOf(row, domain))
}

function checkHeader(names: readonly string[]): void {
  if (names[0] !== '2path') throw new Error('is not of version 2 of GoatCounter’s export')
}

function recordOf({ line, fields }: FileRecord, domain: string): FileRecord | LeftOut {
  const field = (name: string): string => fields.get(name) ?? ''
  if (field('bot') !== '' && field('bot') !== '0') return { line, reason: 'bots' }
  const path = field('2path')
  const isEvent = field('event') === '1' || field('event') === 'true'
  return {
    line,
    fields: fieldsOf({
      time: field('date'),
      name: isEvent ? path : '',
      // Where an event happened is not in the file.
      url: `https://${domain}${isEvent ? '/' : `/${path.replace(/^\/+/, '')}`}`,
      title: isEvent ? '' : field('title'),
      ...sourceOf(field('referrer'), field('referrer scheme')),
      visitor: field('session'),
      user_agent: field('useragent'),
      country: countryCalled(field('location')),
      device: deviceOf(field('screen size')),
      browser: browserCalled(field('browser')),
      os: systemCalled(field('system')),
    }),
  }
}

/** `h`: a host with its path. `c` is a campaign; `g` and `o` are names such as “Email”, which are no hosts. */
const sourceOf = (referrer: string, scheme: string): { referrer?: string; utm_source?: string } =>
  scheme === 'h' ? { referrer: `https://${referrer}` } : { utm_source: referrer }

/** By the width of the screen, in the groups that GoatCounter shows itself. Its export has no other sign of a device. */
function deviceOf(size: string): string {
  const width = Number.parseInt(size, 10)
  if (!(width > 0)) return 'Unknown'
  if (width <= 600) return 'Mobile'
  return width <= 1000 ? 'Tablet' : 'Desktop'
}
