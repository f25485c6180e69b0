// The lists as CSV, for clients that ask for it with Accept (D-185).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { custom, pageview } from '../support/events.ts'
import { openWorld, type World } from '../support/world.ts'
import { noon, reportNames } from './vocabulary.ts'

const accepting = (accept: string, headers: Record<string, string> = {}, method = 'GET') => ({
  method,
  headers: { Accept: accept, ...headers },
})
const csv = accepting('text/csv')

async function openRecorded(t: Parameters<typeof openWorld>[0]): Promise<World> {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({
      at: '2026-11-14T10:00:00Z',
      visitor: 'a',
      pathname: '/a,b',
      title: 'Say "hello"\nthere',
      referrer: 'example.org',
    }),
    pageview({ at: '2026-11-14T11:00:00Z', visitor: 'b', pathname: '/', title: '=cmd()', utmSource: '+1' }),
    custom('@signup', { at: '2026-11-14T11:00:00Z', visitor: 'b', utmSource: '+1' }),
  )
  return world
}

test('every list answers text/csv with its columns and the rows of the JSON', async (t) => {
  const world = await openRecorded(t)
  for (const name of reportNames.filter((one) => one !== 'overview')) {
    const { json } = await world.get(`/stats/${name}`, 'range=7d')
    const answer = await world.get(`/stats/${name}`, 'range=7d', csv)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
    assert.equal(answer.headers.get('vary'), 'Authorization, Accept, Accept-Encoding')
    assert.ok(answer.headers.get('stats-period'))
    const [columns] = answer.text.split('\r\n')
    assert.equal(columns, Object.keys(json.data[0]).join(','))
    assert.equal(records(answer.text).length, json.data.length + 1)
    assert.ok(answer.text.endsWith('\r\n'))
  }
  const empty = await world.get('/stats/pages', 'range=custom&start=2020-01-01&end=2020-01-02', csv)
  assert.equal(empty.text, 'pathname,title,views,visitors\r\n')
})

/** Splits at line ends outside quotes. */
const records = (text: string): string[] => text.match(/(?:"(?:[^"]|"")*"|[^"\r\n])+\r\n/g) ?? []

test('texts are quoted where needed, and one that a spreadsheet would take for a formula is made inert', async (t) => {
  const world = await openRecorded(t)
  assert.equal(
    (await world.get('/stats/pages', 'range=7d', csv)).text,
    'pathname,title,views,visitors\r\n/,\'=cmd(),1,1\r\n"/a,b","Say ""hello""\nthere",1,1\r\n',
  )
  assert.equal((await world.get('/stats/utm', 'range=7d', csv)).text, "name,visitors\r\n'+1,1\r\n")
  assert.equal((await world.get('/stats/events', 'range=7d', csv)).text, "name,count,visitors\r\n'@signup,1,1\r\n")
  await world.record(
    ...['-2', '\tx', '\rx', 'a=b'].map((name) => custom(name, { at: '2026-11-14T11:30:00Z', visitor: 'c' })),
  )
  const names = records((await world.get('/stats/events', 'range=7d', csv)).text).map((line) => line.split(',')[0])
  assert.deepEqual(names.toSorted(), ["'-2", "'@signup", "'\tx", 'a=b', 'name', '"\'\rx"'].toSorted())
})

test('a spreadsheet that splits cells at semicolons, tabs or lines finds no formula either', async (t) => {
  const cells = {
    ';=cmd()': ";'=cmd()",
    '/shop;=1+1;+2;-3;@four': "/shop;'=1+1;'+2;'-3;'@four",
    'a\t=1': "a\t'=1",
    'a\n=1': '"a\n\'=1"',
    // Where the comma does not separate cells, the quote of CSV does not quote.
    'a;"=1': '"a;""\'=1"',
    'a,b;=1': '"a,b;\'=1"',
    '\n=1': '"\'\n\'=1"',
    '＝1': "'＝1",
    '＋1': "'＋1",
    '－1': "'－1",
    '＠one': "'＠one",
    'a;＝1': "a;'＝1",
    '-5': "'-5",
    // These stay as they are.
    '/cart;jsessionid=1A': '/cart;jsessionid=1A',
    '/list;v=1;w=-2?a=b&c=+1': '/list;v=1;w=-2?a=b&c=+1',
    'a; b - c = d': 'a; b - c = d',
    'me@example.com': 'me@example.com',
    '１－２＝３': '１－２＝３',
    "it's; fine": "it's; fine",
  }
  const world = await openWorld(t, { now: noon })
  const at = '2026-11-14T10:00:00Z'
  await world.record(...Object.keys(cells).map((name) => custom(name, { at, visitor: 'a' })))
  const { json } = await world.get('/stats/events', 'range=7d&limit=100')
  const names = (json.data as { name: string }[]).map(({ name }) => name)
  assert.deepEqual(names.toSorted(), Object.keys(cells).toSorted())
  const [, ...lines] = records((await world.get('/stats/events', 'range=7d&limit=100', csv)).text)
  assert.deepEqual(
    lines,
    names.map((name) => `${cells[name as keyof typeof cells]},1,1\r\n`),
  )
})

test('JSON and CSV have tags of their own, and a 304 answers only the tag of the format that is asked for', async (t) => {
  const world = await openRecorded(t)
  const tags = new Map<string, string>()
  for (const [format, accept] of [
    ['json', '*/*'],
    ['csv', 'text/csv'],
  ] as const)
    tags.set(format, (await world.get('/stats/pages', 'range=7d', accepting(accept))).headers.get('etag') as string)
  assert.notEqual(tags.get('json'), tags.get('csv'))
  const statusOf = async (accept: string, tag: string | undefined) =>
    (await world.get('/stats/pages', 'range=7d', accepting(accept, { 'If-None-Match': tag as string }))).status
  assert.equal(await statusOf('text/csv', tags.get('csv')), 304)
  assert.equal(await statusOf('text/csv', tags.get('json')), 200)
  assert.equal(await statusOf('*/*', tags.get('json')), 304)
  assert.equal(await statusOf('*/*', tags.get('csv')), 200)
})

test('only a client that prefers text/csv gets it, and overview is always JSON', async (t) => {
  const world = await openRecorded(t)
  const typeOf = async (accept: string, path = '/stats/geo') =>
    (await world.get(path, '', accepting(accept))).headers.get('content-type')?.split(';')[0]
  const wanted: [accept: string, type: string][] = [
    ['text/csv', 'text/csv'],
    ['TEXT/CSV; charset=utf-8', 'text/csv'],
    ['text/csv, */*', 'text/csv'],
    ['text/csv;q=0.9, application/json;q=0.5', 'text/csv'],
    ['text/csv, application/json', 'application/json'],
    ['text/csv;q=0.5, */*', 'application/json'],
    ['text/csv;q=0', 'application/json'],
    ['text/*', 'application/json'],
    ['*/*', 'application/json'],
    ['text/html', 'application/json'],
  ]
  for (const [accept, type] of wanted) assert.equal(await typeOf(accept), type, accept)
  assert.equal(await typeOf('text/csv', '/stats/overview'), 'application/json')
})

test('errors are JSON whatever the client accepts, and HEAD has the headers of the CSV', async (t) => {
  const world = await openRecorded(t)
  const refused = await world.get('/stats/pages', 'limit=0', csv)
  assert.deepEqual([refused.status, refused.json.error.code], [400, 'invalid_parameter'])
  const head = await world.get('/stats/pages', '', accepting('text/csv', {}, 'HEAD'))
  assert.deepEqual([head.text, head.headers.get('content-type')], ['', 'text/csv; charset=utf-8; header=present'])
})
