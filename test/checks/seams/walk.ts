// One walk: its steps, the comparison after each, and the shortest form of a walk that fails.
import { setTimeout as pause } from 'node:timers/promises'
import type { Stores } from '../../../src/cluster/stores.ts'
import { eraseRows } from '../../../src/erasure/job.ts'
import { sitesWithRows } from '../../../src/erasure/rows.ts'
import { readCoverage } from '../../../src/rollups/coverage.ts'
import { unknownSites, verifyLedger } from '../../../src/rollups/ledger.ts'
import { verifySite } from '../../../src/rollups/verify.ts'
import { sql, text } from '../../../src/stores/clickhouse-sql.ts'
import { type Random, seeded } from '../../support/random.ts'
import { answer, answerOfSites, reports } from '../oracle/model.ts'
import { zones } from '../oracle/moments.ts'
import type { Params } from '../oracle/params.ts'
import { differentEvents } from './columns.ts'
import { openInstallation, type WalkServers } from './installation.ts'
import { openWalkMail, repeatedMail } from './mail.ts'
import { nothing, sitesOf, unknownIn } from './model.ts'
import { compareQuestion, questionsFor, type SiteQuestion } from './questions.ts'
import { replicaSteps, steps, type Walk } from './steps.ts'
import { openWalkWebhooks, repeatedWebhooks } from './webhooks.ts'

const allSteps = { ...steps, ...replicaSteps }

export interface Planned {
  kind: string
  seed: string
}

export interface Failure {
  what: string
  lines: string[]
  taken: Planned[]
}

export async function takeWalk(
  servers: WalkServers,
  seed: string,
  plan: readonly Planned[],
): Promise<Failure | undefined> {
  const now = Math.floor(Date.now() / 1_000) * 1_000
  const installation = await openInstallation(servers, now)
  const walk: Walk = {
    installation,
    now,
    model: nothing,
    verified: new Map(),
    mail: await openWalkMail(),
    webhooks: await openWalkWebhooks(),
    dumps: { postgres: [], clickhouse: [], backups: [] },
  }
  try {
    const random = seeded(`${seed}/sites`)
    for (const domain of ['a.example', 'b.example']) {
      const zone = random.pick(zones)
      const site = { ...(await installation.createSite(domain, zone)), domain, zone, excludedCountries: [], goals: [] }
      const { settings } = walk.model
      walk.model = { ...walk.model, settings: { ...settings, sites: [...settings.sites, site] } }
    }
    for (const [index, step] of plan.entries()) {
      const taken = plan.slice(0, index + 1)
      try {
        // A count of today is used for a minute, and later events are not in it (decision D-81).
        await installation.stores().postgres`UPDATE today_coverage SET as_of = as_of - interval '2 minutes'`
        if (walk.away) {
          await walk.away.start()
          walk.away = undefined
          await installation.settle()
        }
        await installation.untilReplicasAreComplete() // nothing is rolled up or moved while one is away
        walk.model = await (allSteps[step.kind] as (typeof steps)[string])(walk, seeded(step.seed))
        await installation.settle(walk.away !== undefined)
        const repeated = [...repeatedMail(walk.mail), ...repeatedWebhooks(walk.webhooks)]
        if (repeated.length > 0) throw new Error(`Messages arrived twice: ${repeated.join(', ')}`)
      } catch (error) {
        return { what: 'failed', lines: [`${step.kind}: ${(error as Error).stack}`], taken }
      }
      const lines = await differences(walk, seeded(`${step.seed}/compare`))
      if (lines.length > 0) {
        const shown = [`after ${step.kind}`, ...lines.slice(0, 6), await stateOf(walk)]
        return { what: 'wrong', lines: shown, taken }
      }
    }
    return undefined
  } finally {
    // A step that failed leaves a server down.
    await servers.postgres.start()
    await walk.away?.start()
    await walk.mail.server.close()
    await walk.webhooks.receiver.close()
    await installation.close()
  }
}

/** Every process hears of a change within a second. */
const maxWrongMs = 5_000
/** A server that was started again needs a moment, and longer on a busy machine. Until then there is no answer, but never a wrong one. */
const maxRefusedMs = 30_000

async function differences(walk: Walk, random: Random): Promise<string[]> {
  const began = performance.now()
  const params = paramsFor(walk, random)
  const questions = questionsFor(walk.model, walk.now, random)
  for (;;) {
    // Before the look: on a busy machine one look takes longer than that.
    const waitedMs = performance.now() - began
    const failed = (error: Error): Differences => ({ wrong: [], refused: [`${error.stack}`] })
    const { wrong, refused } = await differencesNow(walk, params, questions).catch(failed)
    if (wrong.length > 0 && waitedMs > maxWrongMs) return wrong
    if (wrong.length + refused.length === 0 || waitedMs > maxRefusedMs) return refused
    await pause(250)
  }
}

/** All reports are asked for one range, and two of them for everything: 22 questions for two sites, half of the time of a walk. */
function paramsFor({ now }: Walk, random: Random): [some: Params, everything: Params] {
  const start = new Date(now - random.below(800) * 86_400_000).toISOString().slice(0, 10)
  const end = new Date(now).toISOString().slice(0, 10)
  const filter = random.pick<Params>([[], [['country', 'DE']], [['device', 'mobile']], [['hostname', 'example.com']]])
  const since = (first: string): Params => [
    ['range', 'custom'],
    ['start', first],
    ['end', end],
  ]
  const usual: Params = [['range', random.pick(['24h', '7d', '30d', '90d', '12m'])], ...filter]
  return [random.pick([usual, since(start)]), since('2000-01-01')]
}

interface Expected {
  status: number
  body?: string
}

interface Differences {
  wrong: string[]
  /** Questions without an answer. */
  refused: string[]
}

async function differencesNow(
  { installation, model, now, verified }: Walk,
  [some, everything]: [some: Params, everything: Params],
  questions: readonly SiteQuestion[],
): Promise<Differences> {
  const found: string[] = []
  const refused: string[] = []
  const sites = sitesOf(model)
  const compare = async (path: string, key: string, expected: Expected) => {
    const got = await installation.get(path, key)
    if (got.status === expected.status && (expected.status !== 200 || got.text === expected.body)) return
    const lines = [
      `GET ${path}`,
      `expected ${expected.body?.slice(0, 600)}`,
      `got ${got.status} ${got.text.slice(0, 600)}`,
    ]
    if (got.status < 500) found.push(...lines)
    else refused.push(...lines)
  }
  for (const site of sites) {
    await compare('/v2/goals', site.key, { status: 200, body: goalsOf(site, now) })
    for (const params of [some, everything]) {
      const limited = [...params, ['limit', '100']] as Params
      const query = new URLSearchParams(limited.map(([name, value]) => [name, value]))
      // All have 9,800 days. Comparing lists of that length takes long, so only two reports are asked for.
      const asked = params === everything ? (['overview', 'events'] as const) : reports
      await Promise.all(
        asked.map((report) =>
          compare(`/v1/stats/${report}?${query}`, site.key, answer(site, report, limited, now) as Expected),
        ),
      )
    }
  }
  for (const one of questions) {
    const { isAnswered, lines } = await compareQuestion(installation, model, now, one)
    if (isAnswered) found.push(...lines)
    else refused.push(...lines)
  }
  const query = new URLSearchParams(some.map(([name, value]) => [name, value]))
  const overview = answerOfSites(sites, some, now) as Expected
  await compare(`/v1/sites/overview?${query}`, installation.accountKey, overview)
  const older = await verifyLedger(installation.stores())
  if (older) found.push(`${older} is older, and nobody has noticed`)
  const { postgres, cluster } = installation.stores()
  const unknown = await unknownSites(installation.stores())
  if (unknown.join() !== unknownIn(model).join())
    found.push(`sites that PostgreSQL does not know: ${unknown}`, `expected ${unknownIn(model)}`)
  for (const clickhouse of cluster.shards) {
    await eraseRows({ postgres, clickhouse }) // as the process that rolls up does every minute
    const left = await sitesWithRows(clickhouse, model.settings.deleted)
    if (left.length > 0) found.push(`shard ${clickhouse.shard} has rows of deleted sites: ${left}`)
  }
  const shards = await installation.shardsOf()
  for (const { siteId, events } of sites) {
    const stores = installation.of(shards.get(siteId) ?? 1)
    found.push(...(await differentEvents(stores.clickhouse, siteId, events, model.settings.eventsFrom)).slice(0, 4))
    const rows = await rowsOf(stores, siteId)
    if (verified.get(siteId) === rows) continue
    const { wrong } = await verifySite(stores, siteId)
    if (wrong.length > 0) found.push(`rollup verify: ${JSON.stringify(wrong.slice(0, 3))}`)
    else verified.set(siteId, rows)
  }
  return { wrong: found, refused }
}

function goalsOf({ siteId, goals }: ReturnType<typeof sitesOf>[number], now: number): string {
  const data = goals.map(({ name, condition }) =>
    condition.kind === 'path' ? { name, kind: 'path', path: condition.pattern } : { name, ...condition },
  )
  return JSON.stringify({ data, meta: { site_id: siteId, generated_at: new Date(now).toISOString() } })
}

/** All that `rollup verify` compares, as one text. Verifying takes 67 statements, so it is done only when something has changed. */
async function rowsOf({ postgres, clickhouse }: Stores, siteId: string): Promise<string> {
  const tables = [sql`events`, sql`short_rollups`, sql`long_rollups`, sql`sessions`]
  const sums = await Promise.all(
    tables.map((table) =>
      clickhouse.rowsPatiently(
        sql`SELECT count() AS rows, sum(cityHash64(*)) AS sum FROM ${table} WHERE site_id = ${text(siteId)}`,
      ),
    ),
  )
  const coverage = await readCoverage(postgres, siteId)
  return JSON.stringify([clickhouse.shard, sums, coverage?.versions, coverage?.eventsFrom])
}

/** What the databases have, for whoever looks for the cause. */
async function stateOf({ installation, model }: Walk): Promise<string> {
  const { postgres, cluster } = installation.stores()
  const [kept] = await postgres`SELECT ledger.epoch, retention.* FROM ledger, retention`
  const sites = await postgres`
    SELECT id, domain, shard, time_zone, (SELECT json_agg(rollup_coverage) FROM rollup_coverage WHERE site_id = id) AS coverage FROM sites`
  const events = await Promise.all(
    cluster.shards.map((clickhouse) =>
      clickhouse.rows(
        sql`SELECT site_id, toStartOfMonth(day) AS month, count() AS events FROM events GROUP BY ALL ORDER BY ALL`,
      ),
    ),
  )
  const expected = model.settings.sites.map(({ id, domain }) => [domain, model.traffic.events.get(id)?.length ?? 0])
  return JSON.stringify({ expected, kept, sites, events, lastError: installation.lastError() })
}

/** Leaves out steps for as long as the walk still fails, and for a few minutes at most. */
export async function shorten(
  servers: WalkServers,
  seed: string,
  failing: readonly Planned[],
  say: (text: string) => void,
): Promise<readonly Planned[]> {
  const deadline = performance.now() + 240_000
  let shortest = failing
  for (let size = Math.floor(failing.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from + size < shortest.length && performance.now() < deadline; ) {
      const without = shortest.toSpliced(from, size)
      const failed = await takeWalk(servers, seed, without).catch(() => undefined)
      if (failed) {
        shortest = failed.taken
        say(
          `${shortest.length} steps still fail: ${failed.what}, ${failed.lines.slice(0, 3).join(' | ').slice(0, 400)}`,
        )
      } else from += size
    }
  }
  return shortest
}
