// /mcp with messages that nobody should send: wrong JSON, wrong protocol, wrong tools, hostile inputs, odd headers. No 5xx, no answer that
// is no message, no site of somebody else, and every call of a tool is counted exactly once.
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { tools } from '../../../src/mcp/server.ts'
import { dimensions } from '../../../src/stats/questions/dimensions.ts'
import { operators } from '../../../src/stats/questions/filters.ts'
import type { Postgres } from '../../../src/stores/postgres.ts'
import { messageHeaders, messageIn, toolCall } from '../../support/mcp-message.ts'
import { type Random, seeded } from '../../support/random.ts'
import { keySecrets } from '../../support/stores.ts'
import type { Check } from '../runner.ts'
import { hostile } from './values.ts'

const lanes = 6
const allowed = [200, 202, 400, 404, 406, 413, 415]
/** Of a key of the Agency plan. */
const perHour = 5_000

export async function fuzzMcp(
  check: Check,
  url: string,
  postgres: Postgres,
  requests: number,
): Promise<Record<string, unknown>> {
  const accountId = await createAccount(postgres, { name: 'Fuzzed by assistants', plan: 'Agency' })
  const stranger = await createAccount(postgres, { name: 'Stranger', plan: 'Agency' })
  for (const domain of ['one.example', 'two.example']) await createSite(postgres, { accountId, domain })
  await createSite(postgres, { accountId: stranger, domain: 'hidden.example' })
  const keys: { id: string; text: string; counted: number; least: number }[] = []
  for (let left = requests; left > 0; left -= perHour) {
    keys.push({ ...(await createKey(postgres, keySecrets, { accountId, name: 'Fuzz' })), counted: 0, least: perHour })
  }

  const statuses: Record<string, number> = {}
  let [next, answers, errors] = [0, 0, 0]
  async function lane(): Promise<void> {
    while (next < requests) {
      const number = next++
      const random = seeded(`${check.seed}/mcp/${number}`)
      const key = keys[number % keys.length] as (typeof keys)[number]
      const { body, headers } = requestOf(random)
      const response = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { ...messageHeaders(key.text), ...headers },
        body,
      })
      const text = await response.text()
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
      const fault = (kind: string) =>
        check.fault(
          `mcp: ${kind}`,
          `case ${number}`,
          `sent ${body.slice(0, 600)}`,
          `got ${response.status} ${text.slice(0, 600)}`,
        )
      if (!allowed.includes(response.status)) fault(`status ${response.status}`)
      if (response.headers.get('access-control-allow-origin') !== '*') fault('no CORS')
      if (/hidden\.example/.test(text)) fault('a foreign site')
      const remaining = response.headers.get('x-ratelimit-remaining')
      if (remaining !== null) {
        key.counted++
        key.least = Math.min(key.least, Number(remaining))
      }
      if (response.status === 202) continue
      try {
        const { result, error } = messageIn(text)
        if (result) answers++
        if (result?.isError) errors++
        if (!result && !Number.isInteger(error?.code)) fault('neither a result nor an error')
        if (result?.content && remaining === null) fault('a call that is not counted')
      } catch {
        fault('an answer that is no message')
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  for (const { id, counted, least } of keys) {
    if (perHour - counted !== least) check.fault('mcp: quota', `${id}: ${counted} counted, but ${least} remain`)
  }
  if (!statuses['200'] || !statuses['400'] || errors === 0 || errors === answers)
    check.fault('mcp: coverage', JSON.stringify({ statuses, answers, errors }))
  return { sent: requests, statuses, answers, errors }
}

const sites = ['one.example', 'two.example', 'hidden.example', 'site_aaaaaaaaaaaaaaaa']
const goodInput: Readonly<Record<string, (random: Random) => unknown>> = {
  site: (random) => random.pick(sites),
  range: (random) => random.pick(['today', 'last_week', 'this_quarter', '7d', '24h', '12m']),
  start: () => '2026-01-01',
  end: () => '2026-02-01',
  filters: (random) => Array.from({ length: random.below(4) }, () => filterOf(random)),
  metrics: (random) => random.sample(['visitors', 'bounce_rate', 'revenue:EUR', 'conversions'], 1 + random.below(3)),
  goal: () => 'Signup',
  order: (random) => random.pick(['visitors', 'pageviews:asc']),
  limit: (random) => 1 + random.below(100),
  by: (random) => random.pick([...dimensions.map(({ name }) => name), 'prop:plan']),
  interval: (random) => random.pick(['hour', 'day', 'week', 'month']),
  metric: (random) => random.pick(['visitors', 'change']),
  contains: () => 'one',
  current: (random) => inputOf(random, ['site', 'range', 'filters']),
  baseline: (random) => inputOf(random, ['site', 'start', 'end']),
}

const filterOf = (random: Random): unknown => ({
  dimension: random.oneIn(6) ? random.pick(hostile) : random.pick([...dimensions.map(({ name }) => name), 'prop:plan']),
  operator: random.oneIn(6) ? random.pick(hostile) : random.pick(operators),
  values: random.oneIn(6)
    ? anything(random, 2)
    : Array.from({ length: random.below(3) }, () => random.pick([...hostile, 'DE', 'mobile', '/', ''])),
})

function requestOf(random: Random): { body: string; headers: Record<string, string> } {
  const message = random.oneIn(3) ? oddMessage(random) : callOf(random)
  const text = typeof message === 'string' ? message : JSON.stringify(message)
  const body = random.oneIn(12) ? broken(random, text) : text
  return { body, headers: random.oneIn(6) ? oddHeaders(random) : {} }
}

function callOf(random: Random): object {
  const { name, input } = random.pick(tools)
  const tool = random.oneIn(12) ? random.pick(hostile) : name
  const names = Object.keys(input.properties).filter(
    (one) => ['by', 'current', 'baseline'].includes(one) || random.oneIn(3),
  )
  return toolCall(
    tool,
    random.oneIn(20) ? anything(random, 3) : inputOf(random, names),
    random.pick([1, 'one', 0, 1e9]),
  )
}

function inputOf(random: Random, names: readonly string[]): Record<string, unknown> {
  const all = random.oneIn(15) ? [...names, random.pick(hostile)] : names
  // Not a literal: `__proto__` must be a name like any other.
  const good = (name: string) => (Object.hasOwn(goodInput, name) ? goodInput[name] : undefined) ?? anyText
  const pairs = all.map((name) => [name, random.oneIn(6) ? anything(random, 2) : good(name)(random)])
  return JSON.parse(`{${pairs.map((pair) => pair.map((part) => JSON.stringify(part)).join(':')).join(',')}}`)
}

const anyText = (random: Random): string => random.pick(hostile)

function anything(random: Random, depth: number): unknown {
  const kinds = [
    () => random.pick(hostile),
    () => random.pick([null, true, false, 0, -1, 1.5, 1e308, '', []]),
    () => Array.from({ length: random.below(4) }, () => (depth > 0 ? anything(random, depth - 1) : 1)),
    () => (depth > 0 ? { [random.pick(hostile)]: anything(random, depth - 1) } : {}),
  ]
  return random.pick(kinds)()
}

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

function oddMessage(random: Random): object | string {
  const methods = [
    'initialize',
    'ping',
    'tools/list',
    'tools/call',
    'server/discover',
    'subscriptions/listen',
    'resources/read',
    'prompts/get',
    'completion/complete',
    'logging/setLevel',
    'notifications/initialized',
    'notifications/cancelled',
    random.pick(hostile),
  ]
  const params = random.pick([undefined, {}, { _meta: modernMeta }, { _meta: {} }, anything(random, 3)])
  const message = { jsonrpc: '2.0', id: random.pick([1, 'a', null, 1.5, {}]), method: random.pick(methods), params }
  const kinds = [
    () => message,
    () => ({ jsonrpc: '2.0', method: message.method, params }),
    () => ({ ...message, jsonrpc: random.pick(['1.0', 2, null]) }),
    () => ({ jsonrpc: '2.0', id: 1, result: anything(random, 2) }),
    () => Array.from({ length: 1 + random.below(3) }, () => callOf(random)),
    () => anything(random, 3) as object,
    () => random.pick(hostile),
  ]
  return random.pick(kinds)() ?? 'null'
}

function broken(random: Random, text: string): string {
  const at = random.below(text.length + 1)
  return random.oneIn(2) ? text.slice(0, at) : `${text.slice(0, at)}${random.pick(hostile)}${text.slice(at)}`
}

function oddHeaders(random: Random): Record<string, string> {
  return random.pick([
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/json; charset=latin1' },
    { Accept: '*/*' },
    { Accept: 'application/json' },
    { 'Mcp-Protocol-Version': '2026-07-28' },
    { 'Mcp-Protocol-Version': '1999-01-01' },
    { 'Mcp-Protocol-Version': '2025-06-18', 'Mcp-Session-Id': 'made up' },
    { 'Mcp-Method': 'tools/call', 'Mcp-Name': 'overview' },
    { 'Last-Event-Id': '1', Cookie: '__Host-footfall-session=x' },
    { 'Content-Encoding': 'gzip' },
  ])
}
