// Kinds of traffic: that of an honest site, and the most expensive ones.
import { randomBytes, randomUUID } from 'node:crypto'
import { browserAgent } from '../../support/collector-process.ts'

/** `keys` and `values` are events with as many properties as one may have: unique keys and values, or unique values alone. */
export type Kind = 'ordinary' | 'unique' | 'keys' | 'values'

export const properties = 30

/** A request of one visitor with this number of events. */
export function requestOf(kind: Kind, domain: string, number: number, events: number): string {
  const address = kind === 'ordinary' ? Math.floor(number / 4) : number // an ordinary visitor looks at four pages
  const list = Array.from({ length: events }, (_, at) => eventOf(kind, domain, number * events + at))
  const body = JSON.stringify(events === 1 ? list[0] : list)
  return [
    'POST /api/event HTTP/1.1',
    'Host: collector.example',
    `User-Agent: ${browserAgent}`,
    `X-Forwarded-For: 10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`,
    'Content-Type: text/plain',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

function eventOf(kind: Kind, domain: string, number: number): object {
  if (kind === 'unique') {
    const id = randomUUID()
    const [page, referrer] = [`https://${domain}/${id}?utm_source=${id}`, `https://${id}.example/`]
    return { n: number % 2 === 0 ? 'pageview' : id, u: page, d: domain, r: referrer, t: `Title of ${id}` }
  }
  if (kind !== 'ordinary') {
    const key = (at: number) => (kind === 'keys' ? randomUUID() : `key-${at}`)
    const value = () => randomBytes(100).toString('hex')
    const props = Object.fromEntries(Array.from({ length: properties }, (_, at) => [key(at), value()]))
    return { n: 'pageview', u: `https://${domain}/`, d: domain, props }
  }
  // 160,000 events have about 14,000 paths, 1,250 referrers, 40 sources and 30 names: a few are frequent, most are rare.
  const page = seldom(20_000)
  const source = number % 5 === 0 ? `?utm_source=source-${seldom(40)}` : ''
  return {
    n: number % 10 === 0 ? `Event ${seldom(30)}` : 'pageview',
    u: `https://${domain}/section-${page % 40}/page-${page}${source}`,
    d: domain,
    r: number % 3 === 0 ? `https://site-${seldom(1_500)}.example/` : '',
    t: `Title of page ${page}`,
  }
}

/** A random number below `most`; small ones are more frequent. */
const seldom = (most: number): number => Math.floor(most ** Math.random()) - 1
