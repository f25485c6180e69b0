// The files of other products, with the columns and the encodings that their current sources have: Umami (src/…/website_event of May 2026),
// GoatCounter's exportcsv.go, Matomo's Live.getLastVisitsDetails, and access logs of nginx, Apache, Caddy and CloudFront.
import { gzipSync } from 'node:zlib'
import { pageview } from '../../../src/traffic/event.ts'
import type { Random } from '../../support/random.ts'
import { domain, type Hit, type Source } from './traffic.ts'

interface File {
  name: string
  content: Buffer
}

export interface Dialect {
  /** What `--from` takes. */
  kind: string
  /** Also puts lines between them that are no events. */
  write(hits: readonly Hit[], random: Random): { files: File[]; leftOut: Record<string, number> }
  /** What of a hit the product keeps. */
  kept(hit: Hit): Hit
  visitorOf(hit: Hit): string
}

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
const row = (cells: readonly string[]): string => cells.map(cell).join(',')
const queryOf = ({ utmSource, campaign }: Source): string =>
  utmSource === ''
    ? ''
    : new URLSearchParams({
        utm_source: utmSource,
        utm_medium: campaign?.medium ?? '',
        utm_campaign: campaign?.campaign ?? '',
        utm_content: campaign?.content ?? '',
        utm_term: campaign?.term ?? '',
      }).toString()

/** As a table has them: in no order. */
function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const mixed = [...items]
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = random.below(at + 1)
    ;[mixed[at], mixed[other]] = [mixed[other] as Item, mixed[at] as Item]
  }
  return mixed
}

/** Puts other lines between the lines of a file. */
const between = (lines: readonly string[], others: readonly string[], random: Random): string[] =>
  others.reduce((all, other) => all.toSpliced(random.below(all.length + 1), 0, other), [...lines])

const utc = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ')

const umamiColumns = [
  ...['website_id', 'session_id', 'visit_id', 'event_id', 'hostname', 'browser', 'os', 'device', 'screen', 'language'],
  ...['country', 'region', 'city', 'url_path', 'url_query', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content'],
  ...[
    'utm_term',
    'referrer_path',
    'referrer_query',
    'referrer_domain',
    'page_title',
    'gclid',
    'event_type',
    'event_name',
  ],
  ...['tag', 'distinct_id', 'created_at', 'job_id'],
]
const umamiBrowsers: Record<string, string> = { Chrome: 'chrome', Firefox: 'firefox', Safari: 'safari' }
const umamiSystems: Record<string, string> = { Windows: 'Windows 10', macOS: 'Mac OS', Android: 'Android OS' }

export const umami: Dialect = {
  kind: 'umami',
  kept: (hit) => hit,
  visitorOf: ({ visitor }) => visitor,
  write(hits, random) {
    const line = (hit: Hit, changed: Record<string, string> = {}): string => {
      const { client, source } = hit
      const [, host = '', path = ''] = /^([^/]*)(.*)$/.exec(source.referrer) ?? []
      const values: Record<string, string> = {
        website_id: '0b7c',
        session_id: hit.visitor,
        hostname: domain,
        browser: client.browser === 'Safari' && client.os === 'iOS' ? 'ios' : (umamiBrowsers[client.browser] as string),
        os: umamiSystems[client.os] ?? client.os,
        device: client.device === 'Desktop' && random.oneIn(2) ? 'laptop' : client.device.toLowerCase(),
        country: hit.country === 'ZZ' ? '' : hit.country,
        url_path: hit.path,
        url_query: queryOf(source),
        utm_source: source.utmSource,
        utm_campaign: source.campaign?.campaign ?? '',
        referrer_domain: host,
        referrer_path: path.split('?')[0] as string,
        page_title: hit.title,
        event_type: hit.name === pageview ? '1' : '2',
        event_name: hit.name === pageview ? '' : hit.name,
        created_at: random.oneIn(2) ? utc(hit.time) : `${utc(hit.time + 7_200_000)}+02`,
        ...changed,
      }
      return row(umamiColumns.map((name) => values[name] ?? ''))
    }
    const [first] = hits as [Hit]
    const broken = ['cut off,in the middle', line(first, { created_at: 'yesterday' }), line(first, { session_id: '' })]
    const measured = [line(first, { event_type: '5' }), line(first, { event_type: '3' })]
    const lines = between(
      shuffled(
        hits.map((hit) => line(hit)),
        random,
      ),
      [...broken, ...measured],
      random,
    )
    return {
      files: [
        {
          name: 'website_event.csv',
          content: Buffer.from(`\uFEFF${[umamiColumns.join(','), ...lines, ''].join('\r\n')}`),
        },
      ],
      leftOut: {
        'lines that cannot be read': broken.length,
        'clicks on short links, pixels and measurements of speed': measured.length,
      },
    }
  },
}

const goatcounterHead =
  '2Path,Title,Event,UserAgent,Browser,System,Session,Bot,Referrer,Referrer scheme,Screen size,Location,FirstVisit,Date'
const widths = { Desktop: 1920, Mobile: 390, Tablet: 800, Unknown: 0 } as const

const goatcounter: Dialect = {
  kind: 'goatcounter',
  // Of a campaign only one name is kept, and of an event not where it happened.
  kept: (hit) => ({
    ...hit,
    path: hit.name === pageview ? hit.path : '/',
    title: hit.name === pageview ? hit.title : '',
    source: hit.source.utmSource ? { ...hit.source, campaign: undefined, channel: 'Email' } : hit.source,
  }),
  visitorOf: ({ visitor }) => visitor,
  write(hits, random) {
    const line = (hit: Hit, bot = '0'): string => {
      const isPage = hit.name === pageview
      const { utmSource, referrer } = hit.source
      return row([
        isPage ? hit.path : hit.name,
        isPage ? hit.title : '',
        isPage ? '0' : '1',
        '',
        `${hit.client.browser} 141`,
        hit.client.os === 'macOS' ? 'macOS 10.15' : hit.client.os,
        hit.visitor,
        bot,
        utmSource || referrer,
        utmSource ? 'c' : referrer ? 'h' : '',
        `${widths[hit.client.device]},0,1`,
        hit.country === 'NL' ? 'NL-NH' : '',
        '1',
        new Date(hit.time).toISOString().replace('.000', ''),
      ])
    }
    const [first] = hits as [Hit]
    const lines = between(
      hits.map((hit) => line(hit)),
      [line(first, '1'), 'cut,off'],
      random,
    )
    const content = gzipSync([goatcounterHead, ...lines, ''].join('\n'))
    return {
      files: [{ name: 'goatcounter-export.csv.gz', content }],
      leftOut: { bots: 1, 'lines that cannot be read': 1 },
    }
  },
}

function actionOf(hit: Hit): Record<string, unknown> {
  const common = { url: `https://${domain}${hit.path}`, timestamp: hit.time / 1_000, icon: null, braces: '{"[}\\' }
  if (hit.name === pageview) return { type: 'action', pageTitle: hit.title, ...common }
  if (hit.revenue > 0) return { type: 'goal', goalName: hit.name, revenue: `${hit.revenue / 100}`, ...common }
  return { type: 'event', eventCategory: 'Shop', eventAction: hit.name, eventName: '', ...common }
}

const matomoSystems: Record<string, string> = { Linux: 'GNU/Linux', macOS: 'Mac' }

const matomo: Dialect = {
  kind: 'matomo',
  // The names of the campaign are those of its plugin. Events have no title.
  kept: (hit) => ({ ...hit, title: hit.name === pageview ? hit.title : '' }),
  visitorOf: ({ visitor }) => visitor,
  write(hits) {
    const visits = [...Map.groupBy(hits, ({ visitor }) => visitor).values()].flatMap((all) => {
      const split: Hit[][] = []
      for (const hit of all) {
        const last = split.at(-1)?.at(-1)
        if (last && last.source === hit.source && hit.time - last.time <= 1_800_000) split.at(-1)?.push(hit)
        else split.push([hit])
      }
      return split
    })
    const objects = visits.toReversed().map((visit, nth) => {
      const [{ visitor, client, source, country }] = visit as [Hit]
      const { campaign } = source
      return {
        idSite: '1',
        idVisit: `${nth}`,
        visitorId: visitor,
        visitIp: '0.0.0.0',
        siteCurrency: 'EUR',
        actionDetails: visit.map(actionOf).concat(nth === 0 ? [{ type: 'search', timestamp: 0 }] : []),
        referrerType: campaign ? 'campaign' : source.host ? 'website' : 'direct',
        referrerUrl: source.referrer && `https://${source.referrer}`,
        referrerName: campaign?.campaign ?? '',
        referrerKeyword: campaign?.term ?? '',
        ...(campaign && {
          campaignSource: source.utmSource,
          campaignMedium: campaign.medium,
          campaignContent: campaign.content,
        }),
        countryCode: country === 'ZZ' ? 'xx' : country.toLowerCase(),
        deviceType: client.device === 'Mobile' ? 'Smartphone' : client.device,
        browserName: client.os === 'iOS' ? 'Mobile Safari' : client.os === 'Android' ? 'Chrome Mobile' : client.browser,
        operatingSystemName: matomoSystems[client.os] ?? client.os,
      }
    })
    const content = Buffer.from(`[${objects.map((one) => JSON.stringify(one)).join(',\n')},{"idVisit":"broken"}]`)
    return {
      files: [{ name: 'visits.json', content }],
      leftOut: { 'actions that are neither a page nor an event': 1, 'lines that cannot be read': 1 },
    }
  },
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A third of the days each: a log in text, Caddy's, and CloudFront's. They are given in no order. */
const accessLog: Dialect = {
  kind: 'access-log',
  // A log knows neither events nor titles.
  kept: (hit) => ({ ...hit, name: pageview, title: '' }),
  visitorOf: ({ ip, client }) => `${ip} ${client.userAgent}`,
  write(hits, random) {
    const size = Math.ceil(hits.length / 3)
    const [texts, caddy, cloudfront] = [0, 1, 2].map((nth) => hits.slice(nth * size, (nth + 1) * size)) as [
      Hit[],
      Hit[],
      Hit[],
    ]
    const [first] = hits as [Hit]
    const others = [
      inText({ ...first, path: '/style.css?v=2' }),
      inText({ ...first, path: '/feed/' }),
      inText(first, 'POST'),
      inText(first, 'GET', 404),
      inText({ ...first, client: { ...first.client, userAgent: 'Googlebot/2.1' } }),
      'not a line of a log',
    ]
    const fields =
      'date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query'
    const columns = ['#Version: 1.0', `#Fields: ${fields}`, ...cloudfront.map(inColumns)]
    return {
      files: [
        { name: 'cloudfront.gz', content: gzipSync(`${columns.join('\n')}\n`) },
        {
          name: 'access.log',
          content: Buffer.from(
            `${between(
              texts.map((hit) => inText(hit)),
              others,
              random,
            ).join('\n')}\n`,
          ),
        },
        { name: 'caddy.log', content: Buffer.from(`${caddy.map(inCaddy).join('\n')}\n`) },
      ],
      leftOut: {
        'files that are no pages': 1,
        'feeds and calls of an API': 1,
        'requests that are not GET': 1,
        'answers that are neither 2xx nor 304': 1,
        bots: 1,
        'lines that cannot be read': 1,
      },
    }
  },
}

const target = ({ path, source }: Hit): string => {
  const query = queryOf(source)
  return `${new URL(path, `https://${domain}`).pathname}${query && `?${query}`}`
}
const refererOf = ({ source }: Hit): string => source.referrer && `https://${source.referrer}`

function inText(hit: Hit, method = 'GET', status = 200): string {
  const at = new Date(hit.time - 5 * 3_600_000).toISOString()
  const date = `${at.slice(8, 10)}/${months[Number(at.slice(5, 7)) - 1]}/${at.slice(0, 4)}:${at.slice(11, 19)} -0500`
  return `${hit.ip} - - [${date}] "${method} ${target(hit)} HTTP/2.0" ${status} 512 "${refererOf(hit) || '-'}" "${hit.client.userAgent}"`
}

const inCaddy = (hit: Hit): string =>
  JSON.stringify({
    level: 'info',
    ts: hit.time / 1_000,
    logger: 'http.log.access.log0',
    msg: 'handled request',
    request: {
      remote_ip: '10.0.0.1',
      client_ip: hit.ip,
      proto: 'HTTP/2.0',
      method: 'GET',
      host: domain,
      uri: target(hit),
      headers: { 'User-Agent': [hit.client.userAgent], ...(refererOf(hit) && { Referer: [refererOf(hit)] }) },
    },
    status: 304,
  })

const inColumns = (hit: Hit): string => {
  const [path, query = '-'] = target(hit).split('?')
  const [date, time] = utc(hit.time).split(' ')
  const agent = hit.client.userAgent.replaceAll('%', '%25').replaceAll(' ', '%20')
  return [date, time, 'FRA2-C1', '900', hit.ip, 'GET', domain, path, '200', refererOf(hit) || '-', agent, query].join(
    '\t',
  )
}

export const dialects: readonly Dialect[] = [umami, goatcounter, matomo, accessLog]
