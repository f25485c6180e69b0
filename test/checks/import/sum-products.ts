// Files of daily sums in the shapes of two products, made of random numbers; and what the API must answer about them, added up from the same
// numbers by rules that are written out here once more.

import { zipOf } from '../../importing/zip.ts'
import type { Random } from '../../support/random.ts'

export type Sums = readonly [
  visitors: number,
  pageviews: number,
  sessions: number,
  bounces: number,
  seconds: number,
  events: number,
]

/** What a row of a file says, in our words. */
export interface Counted {
  list: string
  day: string
  value: string
  sums: Sums
}

export interface SumProduct {
  kind: string
  /** About as many lines. */
  write(random: Random, lines: number, days: readonly string[]): Written
}

interface Written {
  files: { name: string; content: Buffer }[]
  counted: Counted[]
  /** Lines that are imported. */
  lines: number
  leftOut: Record<string, number>
}

function drawn(random: Random): Sums {
  const visitors = 1 + random.below(40)
  const sessions = visitors + random.below(10)
  return [
    visitors,
    sessions + random.below(60),
    sessions,
    random.below(sessions + 1),
    random.below(900) * sessions,
    1 + random.below(9),
  ]
}

const quoted = (value: string): string => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)

const paths = (random: Random): string => {
  const kind = random.below(20)
  if (kind === 0) return '/say "hi", all'
  if (kind === 1) return `/größe/${random.below(30)}`
  return `/page/${random.below(400)}`
}

/** Value in the file → value in our list. */
type Words = readonly (readonly [written: string, ours: string])[]

const countries: Words = [
  ['DE', 'DE'],
  ['US', 'US'],
  ['JP', 'JP'],
  ['BR', 'BR'],
  ['A1', 'ZZ'],
]
const devices: Words = [
  ['Desktop', 'desktop'],
  ['Laptop', 'desktop'],
  ['Mobile', 'mobile'],
  ['Tablet', 'tablet'],
  ['', 'unknown'],
]
const browsers: Words = [
  ['Chrome', 'Chrome'],
  ['Mobile Safari', 'Safari'],
  ['Firefox', 'Firefox'],
  ['', 'Unknown'],
  ['Samsung Browser', 'Samsung Internet for Android'],
]
const systems: Words = [
  ['Windows', 'Windows'],
  ['Mac', 'macOS'],
  ['GNU/Linux', 'Linux'],
  ['', 'Unknown'],
]
/** source, referrer, utm_source, utm_medium, utm_campaign, utm_content, utm_term → referrer, channel */
const sources = [
  { cells: ['Google', 'www.google.com/', '', '', '', '', ''], referrer: 'google.com', channel: 'Organic Search' },
  { cells: ['', '', '', '', '', '', ''], referrer: '', channel: 'Direct' },
  {
    cells: ['blog.example.org', 'blog.example.org/a?b', '', '', '', '', ''],
    referrer: 'blog.example.org',
    channel: 'Referral',
  },
  { cells: ['News', '', 'News', 'email', 'Spring, "25"', 'hero', 'shoes'], referrer: '', channel: 'Email' },
  {
    cells: ['Google', 'google.de/', 'google', 'cpc', 'brand', '', 'boots'],
    referrer: 'google.de',
    channel: 'Paid Search',
  },
] as const

export const plausible: SumProduct = {
  kind: 'plausible',
  write(random, lines, days) {
    const counted: Counted[] = []
    const range = `${days[0]}_${days.at(-1)}`.replaceAll('-', '')
    const tables = new Map<string, string[]>()
    let good = 0
    const add = (table: string, header: string, row: readonly (string | number)[]) => {
      const known = tables.get(table) ?? [header]
      tables.set(table, known)
      known.push(row.map((cell) => quoted(String(cell))).join(','))
      good++
    }
    const perDay = Math.max(1, Math.floor(lines / days.length / 10))
    for (const day of days) {
      const total = drawn(random)
      add('visitors', 'date,visitors,pageviews,bounces,visits,visit_duration', [
        day,
        total[0],
        total[1],
        total[3],
        total[2],
        total[4],
      ])
      counted.push({ list: 'total', day, value: '', sums: total })
      const list = (
        table: string,
        header: string,
        words: Words,
        ours: string,
        middle: (random: Random) => string[],
      ) => {
        for (let nth = 0; nth < perDay; nth++) {
          const [written, value] = random.pick(words)
          const sums = drawn(random)
          const [visitors, views, sessions, bounces, seconds] = sums
          add(table, `date,${header},visitors,visits,visit_duration,bounces,pageviews`, [
            day,
            written,
            ...middle(random),
            visitors,
            sessions,
            seconds,
            bounces,
            views,
          ])
          counted.push({ list: ours, day, value, sums })
        }
      }
      list('locations', 'country,region,city', countries, 'country', () => [
        `DE-${random.below(9)}`,
        String(random.below(9_999)),
      ])
      list('devices', 'device', devices, 'device', () => [])
      list('browsers', 'browser,browser_version', browsers, 'browser', () => [`${random.below(140)}.0`])
      list('operating_systems', 'operating_system,operating_system_version', systems, 'os', () => [
        String(random.below(15)),
      ])
      for (let nth = 0; nth < perDay * 2; nth++) {
        const [path, sums] = [paths(random), drawn(random)]
        add('pages', 'date,hostname,page,visits,visitors,pageviews,total_scroll_depth,total_scroll_depth_visits', [
          day,
          'shop.example',
          path,
          sums[2],
          sums[0],
          sums[1],
          7,
          3,
        ])
        counted.push({ list: 'page', day, value: path, sums })
      }
      for (let nth = 0; nth < perDay; nth++) {
        const [path, sums] = [paths(random), drawn(random)]
        add('entry_pages', 'date,entry_page,visitors,entrances,visit_duration,bounces,pageviews', [
          day,
          path,
          sums[0],
          sums[2],
          sums[4],
          sums[3],
          sums[1],
        ])
        counted.push({ list: 'entry_page', day, value: path, sums })
        add('exit_pages', 'date,exit_page,visitors,visit_duration,exits,bounces,pageviews', [
          day,
          path,
          sums[0],
          sums[4],
          sums[2],
          sums[3],
          sums[1],
        ])
        counted.push({ list: 'exit_page', day, value: path, sums })
        const source = random.pick(sources)
        const of = drawn(random)
        add(
          'sources',
          'date,source,referrer,utm_source,utm_medium,utm_campaign,utm_content,utm_term,pageviews,visitors,visits,visit_duration,bounces',
          [day, ...source.cells, of[1], of[0], of[2], of[4], of[3]],
        )
        const [, , utmSource, medium, campaign, content, term] = source.cells
        const values = {
          referrer: source.referrer,
          channel: source.channel,
          utm_source: utmSource,
          utm_medium: medium,
          utm_campaign: campaign,
          utm_content: content,
          utm_term: term,
        }
        for (const [list, value] of Object.entries(values))
          counted.push({ list, day, value: value as string, sums: of })
        const name = random.pick(['Signup', '404', 'Outbound Link: Click'])
        const events = drawn(random)
        add('custom_events', 'date,name,link_url,path,visitors,events', [
          day,
          name,
          `https://a.example/${random.below(5)}`,
          '',
          events[0],
          events[5],
        ])
        counted.push({ list: 'event', day, value: name, sums: [events[0], 0, 0, 0, 0, events[5]] })
      }
    }
    const own = days.slice(0, 5).map((day) => `${day},engagement,,,3,300`)
    tables.get('custom_events')?.push(...own)
    const broken = [
      `${days[0]},/broken`,
      `${days[0]},shop.example,/x,1,one,1,0,0`,
      'yesterday,shop.example,/x,1,1,1,0,0',
      '2025-02-30,shop.example,/x,1,1,1,0,0',
    ]
    tables.get('pages')?.push(...broken)
    const files = Object.fromEntries(
      Array.from(tables, ([table, rows]) => [
        `imported_${table}_${range}.csv`,
        `${table === 'pages' ? '\uFEFF' : ''}${rows.join(table === 'devices' ? '\r\n' : '\n')}\n`,
      ]),
    )
    return {
      files: [{ name: 'export.zip', content: zipOf(files) }],
      counted,
      lines: good,
      leftOut: { 'lines that cannot be read': broken.length, 'events that the product records by itself': own.length },
    }
  },
}

const named: Words = [
  ['Germany', 'DE'],
  ['United States', 'US'],
  ['Türkiye', 'TR'],
  ['South Korea', 'KR'],
  ['(not set)', 'ZZ'],
]
const categories: Words = [
  ['desktop', 'desktop'],
  ['mobile', 'mobile'],
  ['tablet', 'tablet'],
  ['smart tv', 'unknown'],
]
const groups: Words = [
  ['Organic Search', 'Organic Search'],
  ['Direct', 'Direct'],
  ['Unassigned', 'Referral'],
  ['Paid Social', 'Paid Social'],
]
const googled: Words = [
  ['google', 'google.com'],
  ['(direct)', ''],
  ['blog.example.org', 'blog.example.org'],
  ['newsletter', ''],
]

export const ga4: SumProduct = {
  kind: 'ga4',
  write(random, lines, days) {
    const counted: Counted[] = []
    const files: { name: string; content: Buffer }[] = []
    const range = `${days[0]}-${days.at(-1)}`.replaceAll('-', '').replace(/^(\d{8})/, '$1-')
    let [good, broken, grand] = [0, 0, 0]
    const perDay = Math.max(1, Math.floor(lines / days.length / 8))
    const file = (
      name: string,
      header: string,
      rowsOf: (day: string, compact: string) => string[],
      faulty: readonly string[] = [],
    ) => {
      const rows = days.flatMap((day) => rowsOf(day, day.replaceAll('-', '')))
      good += rows.length
      broken += faulty.length
      grand++
      const totals = header.split(',').map((name) => (/users|Views|[Ss]ession|count/.test(name) ? '9' : ''))
      const content = [
        '# ----------------------------------------',
        `# ${name}`,
        '# shop.example - GA4',
        `# ${range}`,
        '# ----------------------------------------',
        '',
        header,
        `${totals.join(',')},Grand total`,
        ...rows,
        ...faulty,
      ]
      files.push({ name: `${name}.csv`, content: Buffer.from(`\uFEFF${content.join('\r\n')}\r\n`) })
    }
    file('days', 'Date,Active users,Views,Sessions,Engaged sessions,Average session duration', (day, compact) => {
      const sums = drawn(random)
      const [visitors, views, sessions, bounces, seconds] = sums
      counted.push({ list: 'total', day, value: '', sums })
      return [[compact, visitors, views, sessions, sessions - bounces, seconds / sessions].join(',')]
    })
    const list = (name: string, dimension: string, ours: string, words: Words) =>
      file(name, `Date,${dimension},Active users,Views`, (day, compact) =>
        Array.from({ length: perDay }, () => {
          const [written, value] = random.pick(words)
          const [visitors, views] = drawn(random)
          counted.push({ list: ours, day, value, sums: [visitors, views, 0, 0, 0, 0] })
          return [compact, quoted(written), visitors, views].join(',')
        }),
      )
    list('countries', 'Country', 'country', named)
    list('devices', 'Device category', 'device', categories)
    list('channels', 'Session default channel group', 'channel', groups)
    list('sources', 'Session source', 'referrer', googled)
    list('browsers', 'Browser', 'browser', [
      ['Chrome', 'Chrome'],
      ['Safari (in-app)', 'Safari (in-app)'],
      ['Edge', 'Microsoft Edge'],
    ])
    file(
      'pages',
      'Page path and screen class,Date,Views,Active users',
      (day, compact) =>
        Array.from({ length: perDay }, () => {
          const [path, sums] = [paths(random), drawn(random)]
          counted.push({ list: 'page', day, value: path, sums: [sums[0], sums[1], 0, 0, 0, 0] })
          return [quoted(path), compact, sums[1], sums[0]].join(',')
        }),
      ['/x,20250230,1,1', '/x,today,1,1', '/x,20250401,many,1'],
    )
    let own = 0
    file('events', 'Event name,Date,Active users,Event count', (day, compact) => {
      const [visitors, , , , , events] = drawn(random)
      counted.push({ list: 'event', day, value: 'sign_up', sums: [visitors, 0, 0, 0, 0, events] })
      own++
      return [`sign_up,${compact},${visitors},${events}`, `page_view,${compact},50,500`]
    })
    return {
      files,
      counted,
      lines: good - own,
      leftOut: {
        'totals of all days': grand,
        'lines that cannot be read': broken,
        'events that the product records by itself': own,
      },
    }
  },
}
