// Rate limits per address and per site: over HTTP on a separate collector process, and as token buckets with a test clock.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { createNetworkKey } from '../../../src/process/network-key.ts'
import { createBuckets, maxBuckets } from '../../../src/process/token-buckets.ts'
import { type CollectorProcess, startCollectorProcess } from '../../support/collector-process.ts'
import { openStores } from '../../support/stores.ts'

/** A burst of 20 events per address and 10 per site. The rates are low, so that a busy machine changes nothing. */
const environment = { EVENTS_PER_SECOND_PER_ADDRESS: '1', EVENTS_PER_SECOND_PER_SITE: '1' }
let collector: CollectorProcess
let newPage: () => Promise<{ n: string; u: string; d: string }>

before(async () => {
  const { postgres, addresses } = await openStores()
  const accountId = await createAccount(postgres, { name: 'Limits', plan: 'Free' })
  newPage = async () => {
    const domain = `${randomUUID()}.example`
    await createSite(postgres, { accountId, domain })
    return { n: 'pageview', u: `https://${domain}/`, d: domain }
  }
  const { postgres: database, clickhouse } = addresses
  collector = await startCollectorProcess({ postgres: database, clickhouse }, { environment })
})
after(() => collector.stop())

async function send(body: unknown, ip?: string) {
  const response = await collector.post(body, ip === undefined ? {} : { 'X-Forwarded-For': ip }, '?debug=1')
  const { ids: _, ...answer } = (await response.json()) as {
    accepted?: number
    ids?: string[]
    error?: { code: string }
  }
  return { response, body: answer }
}

const statusOf = async (body: unknown, ip?: string) => (await send(body, ip)).response.status

test('an address that has used its burst gets 429 with Retry-After, and others do not', async () => {
  const page = await newPage()
  const refused = () => collector.metric('footfall_collector_refused_total{code="address_limit"}')
  const counted = await refused()
  assert.equal(await statusOf(Array(45).fill(page), '198.51.100.1'), 202)
  const { response, body } = await send(page, '198.51.100.1')
  assert.deepEqual([response.status, body.error?.code], [429, 'address_limit'])
  // 45 events are 25 more than 20, and the next needs one more: that many seconds, minus the time that has passed.
  const seconds = Number(response.headers.get('Retry-After'))
  assert.ok(seconds > 6 && seconds <= 26, `${seconds}`)
  assert.equal(response.headers.get('Access-Control-Allow-Origin'), '*')
  assert.equal(await refused(), counted + 1)
  const other = await newPage()
  assert.equal(await statusOf(other, '198.51.100.2'), 202)
  assert.equal(await statusOf('{', '198.51.100.1'), 429, 'refused before parsing')
})

test('every event counts, once for each site it names', async () => {
  const { d } = await newPage()
  const page = { n: 'pageview', u: `https://${d}/`, d: Array(10).fill(d).join() }
  assert.equal(await statusOf([page, page], '198.51.100.7'), 202)
  assert.equal(await statusOf({ ...page, d: 'nobody.example' }, '198.51.100.7'), 429)
})

test('an IPv6 network (/64) counts as one address', async () => {
  const [page, other] = [await newPage(), await newPage()]
  assert.equal(await statusOf(Array(40).fill(page), '2001:db8:1:2::1'), 202)
  assert.equal(await statusOf(other, '2001:db8:1:2:ffff::9'), 429)
  assert.equal(await statusOf(other, '2001:db8:1:3::1'), 202)
})

test('a trusted proxy that does not name its client has no limit', async () => {
  assert.equal(await statusOf(Array(40).fill(await newPage())), 202)
  assert.equal(await statusOf(await newPage()), 202)
})

test('events over the limit of a site are dropped, and a request with nothing else gets 429', async () => {
  const [page, other] = [await newPage(), await newPage()]
  const dropped = () => collector.metric('footfall_events_dropped_total{reason="site_limit"}')
  const counted = await dropped()
  const first = await send([...Array(13).fill(page), other])
  const reason = 'site_limit'
  assert.deepEqual(
    [first.response.status, first.body],
    [202, { accepted: 11, dropped: [10, 11, 12].map((index) => ({ index, reason })) }],
  )
  assert.equal(await dropped(), counted + 3)
  // Sent together, because the bucket of a site gains a token per second and a pause would let one more event in.
  const alone = await Promise.all(Array.from({ length: 6 }, () => send([page, { ...page, n: '' }])))
  const refused = alone.filter(({ response }) => response.status === 429)
  assert.ok(refused.length >= 3, `${refused.length}`)
  for (const { response, body } of refused) {
    assert.deepEqual([body.error?.code, response.headers.get('Retry-After')], ['site_limit', '1'])
  }
})

test('events that are dropped for another reason do not use up the limit of a site', async () => {
  const page = await newPage()
  const elsewhere = { ...page, u: 'https://elsewhere.example/' }
  const { body } = await send([
    ...Array(20).fill(elsewhere),
    ...Array(20).fill({ ...page, n: '' }),
    ...Array(10).fill(page),
  ])
  assert.equal(body.accepted, 10)
})

test('no address is in the log', () => {
  assert.doesNotMatch(collector.log(), /198\.51\.100|2001:db8/)
})

function openBuckets(perSecond: number, burstSeconds: number) {
  const clock = { at: 5_000 }
  return { clock, buckets: createBuckets<string>({ perSecond, burstSeconds, now: () => clock.at }) }
}

test('a bucket refills at its rate, up to its burst', () => {
  const { clock, buckets } = openBuckets(10, 2)
  assert.equal(buckets.take('a', 20), 0)
  assert.equal(buckets.take('a', 1), 1)
  clock.at += 100
  assert.equal(buckets.take('a', 1), 0)
  assert.equal(buckets.take('a', 1), 1)
  clock.at += 3_600_000
  for (let time = 0; time < 20; time++) assert.equal(buckets.take('a', 1), 0)
  assert.equal(buckets.take('a', 1), 1)
})

test('a list longer than the burst is accepted, and the excess counts against the next events', () => {
  const { clock, buckets } = openBuckets(1, 2)
  assert.equal(buckets.take('a', 50), 0)
  assert.equal(buckets.take('a', 0), 49)
  clock.at += 48_999
  assert.equal(buckets.take('a', 0), 1)
  clock.at += 1
  assert.equal(buckets.take('a', 50), 0)
})

test('0 per second means no limit', () => {
  const { buckets } = openBuckets(0, 2)
  assert.equal(buckets.take('a', 1e9), 0)
  assert.equal(buckets.take('a', 1e9), 0)
})

test('buckets in use are kept among any number of others, and unused ones are forgotten', () => {
  const { buckets } = openBuckets(1, 2)
  buckets.take('busy', 50)
  buckets.take('quiet', 50)
  for (let other = 0; other < maxBuckets * 3; other++) {
    buckets.take(`${other}`, 1)
    if (other % 1_000 === 0) assert.notEqual(buckets.take('busy', 0), 0)
  }
  assert.equal(buckets.take('quiet', 0), 0)
})

const keyOf = createNetworkKey(64, '12345678')
const same: [string, string][] = [
  ['2001:db8::1', '2001:db8:0:0:5:6:7:8'],
  ['2001:0db8:0000:0000::1', '2001:db8::ffff:ffff:ffff:ffff'],
  ['::1', '::2'],
  ['1::', '1:0:0:0:9::'],
  ['64:ff9b::192.0.2.1', '64:ff9b::1'],
]
const different: [string, string][] = [
  ['192.0.2.1', '192.0.2.2'],
  ['192.0.2.1', '192.0.21.1'],
  ['1.2.3.4', '4.3.2.1'],
  ['2001:db8:0:1::1', '2001:db8:0:2::1'],
  ['2001:db8::1', '2001:db8:0:1::1'],
  ['1::2:3:4:5:6', '1::2:3:4:5:6:7'],
  ['0.0.0.1', '::1'],
]

test('an address counts as itself or as its /64, in any notation', () => {
  for (const [one, other] of same) assert.equal(keyOf(one), keyOf(other), `${one} ${other}`)
  for (const [one, other] of different) assert.notEqual(keyOf(one), keyOf(other), `${one} ${other}`)
})

test('every process gives an address another number, and the numbers are well distributed', () => {
  assert.notEqual(keyOf('192.0.2.1'), createNetworkKey()('192.0.2.1'))
  const keys = Array.from({ length: 65_536 }, (_, at) => keyOf(`10.0.${at >> 8}.${at & 255}`))
  // By the birthday paradox, 65,536 addresses share half a pair of 4,294,967,296 numbers on average.
  assert.ok(new Set(keys).size > 65_530)
  const high = keys.filter((key) => key < 0).length
  assert.ok(high > 32_000 && high < 33_500, `${high}`)
})
