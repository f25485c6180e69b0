// Lines as other products write them, and what becomes of each. check:import has files of 200,000 lines.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { contentOf } from '../../src/importing/content.ts'
import { accessLog } from '../../src/importing/formats/access-log.ts'
import type { Format } from '../../src/importing/formats/format.ts'
import { formatOf } from '../../src/importing/formats/formats.ts'
import { goatcounter } from '../../src/importing/formats/goatcounter.ts'
import { matomo } from '../../src/importing/formats/matomo.ts'
import { umami } from '../../src/importing/formats/umami.ts'
import { LineFault } from '../../src/importing/lines.ts'

/** Each line as its fields, its reason or its fault. In pieces of some bytes, as a file may come. */
async function read(format: Format, text: string, pieceSize = 7): Promise<unknown[]> {
  const bytes = Buffer.from(text)
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceSize) yield bytes.subarray(at, at + pieceSize)
  }
  const found: unknown[] = []
  for await (const one of format.read(pieces(), 'example.com'))
    if (one instanceof LineFault) found.push(one.message)
    else found.push('reason' in one ? `${one.line}: ${one.reason}` : Object.fromEntries(one.fields))
  return found
}

test('Umami: rows of ClickHouse and of PostgreSQL, with UTM tags and events', async () => {
  const header =
    'session_id,hostname,url_path,url_query,referrer_domain,referrer_path,page_title,browser,os,device,country,event_type,event_name,created_at,utm_campaign'
  const found = await read(
    umami,
    [
      header,
      's1,www.example.com,/a,b=1,news.example,/x,"A ""b""",edge-chromium,Windows 11,laptop,DE,1,,2025-03-01 10:00:00,',
      's2,,/a,,,,,ios,iOS,mobile,\\N,2,Sign up,2025-03-01 10:00:00.25+00,Spring',
      's2,,/a,,,,,ios,iOS,mobile,,5,,2025-03-01 10:00:00,',
      's3,/a',
    ].join('\r\n'),
  )
  assert.deepEqual(found, [
    {
      time: '2025-03-01 10:00:00Z',
      url: 'https://www.example.com/a?b=1',
      title: 'A "b"',
      referrer: 'https://news.example/x',
      visitor: 's1',
      country: 'DE',
      device: 'Desktop',
      browser: 'Microsoft Edge',
      os: 'Windows',
    },
    {
      time: '2025-03-01 10:00:00.25+00',
      name: 'Sign up',
      url: 'https://example.com/a',
      visitor: 's2',
      device: 'Mobile',
      browser: 'Safari',
      os: 'iOS',
      utm_campaign: 'Spring',
    },
    '4: clicks on short links, pixels and measurements of speed',
    'Line 5: has 2 cells, but the header has 15',
  ])
  assert.deepEqual(await read(umami, 'session_id,created_at\ns1,2025-03-01 10:00:00\n'), [
    'Line 1: the header has no url_path, event_type',
  ])
})

test('GoatCounter: pages, events, campaigns, bots, and other versions of the file', async () => {
  const header =
    '2Path,Title,Event,UserAgent,Browser,System,Session,Bot,Referrer,Referrer scheme,Screen size,Location,FirstVisit,Date'
  const found = await read(
    goatcounter,
    [
      header,
      '/a,"T, t",0,,Chrome 141,Windows 11,1f-2e,0,news.example/x,h,"1280,768,1",US-TX,1,2025-03-01T10:00:00Z',
      'sign-up,Ignored,1,,Safari 18.0,macOS 10.15,1f-2e,0,Email,g,"390,0,1",,0,2025-03-01T10:01:00Z',
      '/a,,0,,,,1f-2e,6,,,,,0,2025-03-01T10:01:00Z',
    ].join('\n'),
  )
  const common = { visitor: '1f-2e' }
  assert.deepEqual(found, [
    {
      ...common,
      time: '2025-03-01T10:00:00Z',
      url: 'https://example.com/a',
      title: 'T, t',
      referrer: 'https://news.example/x',
      country: 'US',
      device: 'Desktop',
      browser: 'Chrome',
      os: 'Windows',
    },
    {
      ...common,
      time: '2025-03-01T10:01:00Z',
      name: 'sign-up',
      url: 'https://example.com/',
      utm_source: 'Email',
      device: 'Mobile',
      browser: 'Safari',
      os: 'macOS',
    },
    '4: bots',
  ])
  assert.deepEqual(await read(goatcounter, '1Path,Title\n/a,T\n'), [
    'Line 1: is not of version 2 of GoatCounter’s export',
  ])
})

test('Matomo: every kind of action, on one line and on many', async () => {
  const visit = {
    idVisit: '7',
    visitorId: 'abc',
    siteCurrency: 'EUR',
    countryCode: 'fr',
    deviceType: 'Phablet',
    browserName: 'Chrome Mobile',
    operatingSystemName: 'Android',
    referrerType: 'campaign',
    referrerName: 'Spring',
    referrerKeyword: 'shoes',
    referrerUrl: 'https://news.example/',
    actionDetails: [
      { type: 'search', timestamp: 1740823200 },
      { type: 'action', url: 'https://example.com/{"', pageTitle: 'A }', timestamp: 1740823200 },
      {
        type: 'event',
        url: 'https://example.com/b',
        eventCategory: 'Shop',
        eventAction: 'Add',
        eventValue: 2,
        timestamp: '1740823201',
      },
      { type: 'outlink', url: 'https://other.example/x', timestamp: 1740823202 },
      { type: 'ecommerceOrder', revenue: '19.9', timestamp: 1740823203 },
      { type: 13, url: 'https://example.com/b', timestamp: 1740823204 },
    ],
  }
  const common = {
    referrer: 'https://news.example/',
    visitor: 'abc',
    country: 'FR',
    device: 'Mobile',
    browser: 'Chrome',
    os: 'Android',
    utm_campaign: 'Spring',
    utm_term: 'shoes',
  }
  const expected = [
    'actions that are neither a page nor an event',
    { ...common, time: '2025-03-01T10:00:00.000Z', url: 'https://example.com/{"', title: 'A }' },
    {
      ...common,
      time: '2025-03-01T10:00:01.000Z',
      url: 'https://example.com/b',
      name: 'Add',
      props: '{"category":"Shop","value":"2"}',
    },
    {
      ...common,
      time: '2025-03-01T10:00:02.000Z',
      url: 'https://example.com/b',
      name: 'Outbound Link',
      props: '{"url":"https://other.example/x"}',
    },
    {
      ...common,
      time: '2025-03-01T10:00:03.000Z',
      url: 'https://example.com/b',
      name: 'Order',
      revenue: '19.9',
      currency: 'EUR',
    },
    'actions that are neither a page nor an event',
  ]
  const numbered = (line: number) => expected.map((one) => (typeof one === 'string' ? `${line}: ${one}` : one))
  for (const pieceSize of [1, 3, 10_000]) {
    assert.deepEqual(await read(matomo, JSON.stringify([visit, { idVisit: 1 }]), pieceSize), [
      ...numbered(1),
      'Line 1: is no visit with actionDetails',
    ])
    assert.deepEqual(await read(matomo, `[\n${JSON.stringify(visit, undefined, 2)}\n]\n`, pieceSize), numbered(2))
  }
  assert.match(String((await read(matomo, `[${JSON.stringify(visit).slice(0, -9)}`)).at(-1)), /^Line 1: /)
})

const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const combined = (request: string, status = 200, userAgent = agent) =>
  `2001:db8::7 - jane [01/Mar/2025:05:00:00 -0500] "${request}" ${status} 512 "https://news.example/" "${userAgent}"`

test('access logs: the formats of nginx, Apache, Caddy and CloudFront say the same', async () => {
  const expected = {
    url: 'https://example.com/a?b=1',
    ip: '2001:db8::7',
    referrer: 'https://news.example/',
    user_agent: agent,
  }
  const local = { ...expected, time: '2025-03-01T05:00:00-0500' }
  assert.deepEqual(await read(accessLog, combined('GET /a?b=1 HTTP/2.0')), [local])
  assert.deepEqual(await read(accessLog, `shop.example.com:443 ${combined('GET /a?b=1 HTTP/1.1')}`), [
    { ...local, url: 'https://shop.example.com/a?b=1' },
  ])
  // The common format has neither referrer nor user agent.
  assert.deepEqual(await read(accessLog, '192.0.2.1 - - [01/Mar/2025:05:00:00 -0500] "GET / HTTP/1.1" 200 -'), [
    { time: local.time, url: 'https://example.com/', ip: '192.0.2.1' },
  ])
  const caddy = {
    ts: 1740823200.25,
    request: {
      client_ip: '2001:db8::7',
      method: 'GET',
      host: 'example.com',
      uri: '/a?b=1',
      headers: { 'User-Agent': [agent], Referer: ['https://news.example/'] },
    },
    status: 304,
  }
  assert.deepEqual(await read(accessLog, JSON.stringify(caddy)), [{ ...expected, time: '2025-03-01T10:00:00.250Z' }])
  const cloudFront = [
    '#Version: 1.0',
    '#Fields: date time c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query x-host-header',
    ['2025-03-01', '10:00:00', '2001:db8::7', 'GET', 'd1.cloudfront.net', '/a', '200', 'https://news.example/']
      .concat([agent.replaceAll(' ', '%2520'), 'b=1', 'example.com'])
      .join('\t'),
  ]
  assert.deepEqual(await read(accessLog, cloudFront.join('\n')), [{ ...expected, time: '2025-03-01T10:00:00Z' }])
})

test('access logs: what is no pageview is left out with its reason', async () => {
  const reasons: [line: string, reason: string | undefined][] = [
    [combined('GET / HTTP/1.1'), undefined],
    [combined('GET /a.html?x=1.css HTTP/1.1'), undefined],
    [combined('GET /v1.2/notes HTTP/1.1'), undefined],
    [combined('GET /feedback HTTP/1.1'), undefined],
    [combined('GET /apiary HTTP/1.1', 304), undefined],
    [combined('GET /a.css?v=1 HTTP/1.1'), 'files that are no pages'],
    [combined('GET /robots.txt HTTP/1.1'), 'files that are no pages'],
    [combined('GET /blog/feed/ HTTP/1.1'), 'feeds and calls of an API'],
    [combined('GET /api/x HTTP/1.1'), 'feeds and calls of an API'],
    [combined('POST / HTTP/1.1'), 'requests that are not GET'],
    [combined('\\x16\\x03\\x01', 400), 'requests that are not GET'],
    [combined('GET / HTTP/1.1', 301), 'answers that are neither 2xx nor 304'],
    [combined('GET / HTTP/1.1', 404), 'answers that are neither 2xx nor 304'],
    [combined('GET / HTTP/1.1', 200, '-'), 'bots'],
  ]
  for (const [line, reason] of reasons) {
    const [found] = await read(accessLog, line)
    if (reason) assert.equal(found, `1: ${reason}`, line)
    else assert.equal(typeof found, 'object', line)
  }
  assert.deepEqual(await read(accessLog, 'nothing'), ['Line 1: is in none of the formats of access logs'])
})

test('a file is recognised by how it begins, also packed; one that is cut off says so', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-formats-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const at = (name: string, content: string | Buffer) => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }
  const kinds: [kind: string | undefined, content: string][] = [
    ['umami', '\uFEFFwebsite_id,session_id,url_path,event_type,created_at\n'],
    ['goatcounter', '2Path,Title,Event,UserAgent\n'],
    ['matomo', '[{"idSite":"1","idVisit":"2"'],
    ['access-log', `${combined('GET / HTTP/1.1')}\n`],
    ['access-log', '{"level":"info","ts":1.5,"request":{"uri":"/"}}\n'],
    ['access-log', '#Version: 1.0\n#Fields: date time\n'],
    ['csv', 'url,time,visitor\n'],
    ['jsonl', '{"time":"2025-03-01T10:00:00Z","url":"https://example.com/"}\n'],
    [undefined, 'Page,Views\n/,3\n'],
  ]
  for (const [kind, content] of kinds) {
    assert.equal(formatOf(at('file', content), 'x')?.name, kind, content)
    assert.equal(formatOf(at('packed', gzipSync(content)), 'x')?.name, kind, content)
  }
  assert.equal(formatOf(at('mine.csv.gz', gzipSync('colour\nred\n')), 'mine.csv.gz')?.name, 'csv')

  const packed = gzipSync(Buffer.from('x'.repeat(100_000)))
  const drain = async (path: string) => {
    for await (const _ of contentOf(path, statSync(path).size, () => {}));
  }
  await drain(at('whole.gz', packed))
  await assert.rejects(drain(at('half.gz', packed.subarray(0, packed.length >> 1))), /Line 1: .* cut off or broken/)
})
