// The kinds of steps of a walk. Each changes the installation, and returns what the model is afterwards.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGoal, deleteGoal, replaceGoal } from '../../../src/accounts/goals.ts'
import { deleteSite, setExcludedCountries, setTimeZone } from '../../../src/accounts/sites.ts'
import { byShard } from '../../../src/cluster/stores.ts'
import { eraseRows } from '../../../src/erasure/job.ts'
import { moveSite } from '../../../src/moving/move-site.ts'
import { noteInClickHouse, verifyLedger } from '../../../src/rollups/ledger.ts'
import { declareRetention, dropRolledUpMonths, rollUpBeforeDropping } from '../../../src/rollups/retention.ts'
import { rebuildSite, rollUpSite } from '../../../src/rollups/roll-up.ts'
import { sweep } from '../../../src/rollups/sweep.ts'
import { rollUpToday } from '../../../src/rollups/today.ts'
import type { CountryCode } from '../../../src/traffic/country.ts'
import type { TrafficEvent } from '../../../src/traffic/event.ts'
import type { Goal, GoalCondition } from '../../../src/traffic/goals.ts'
import type { Random } from '../../support/random.ts'
import type { Server } from '../cluster/servers.ts'
import { zones } from '../oracle/moments.ts'
import { zoned } from '../oracle/windows.ts'
import { makeWorld } from '../oracle/worlds.ts'
import { pause } from '../runner.ts'
import type { Installation } from './installation.ts'
import { queueMail, sendMail, type WalkMail } from './mail.ts'
import {
  type Model,
  restored,
  type Settings,
  type SiteSettings,
  type Traffic,
  withEvents,
  withRetention,
  withSite,
} from './model.ts'
import { importSums, undoSums } from './sum-steps.ts'
import { deliverToWebhooks, queueForWebhook, type WalkWebhooks } from './webhooks.ts'

export interface Walk {
  installation: Installation
  now: number
  model: Model
  /** What was there when `rollup verify` last found nothing wrong, by site. */
  verified: Map<string, string>
  mail: WalkMail
  webhooks: WalkWebhooks
  /** A replica that was killed, until the next step. */
  away?: Server | undefined
  dumps: {
    postgres: { file: string; settings: Settings }[]
    clickhouse: { backup: string; traffic: Traffic }[]
    backups: { folder: string; model: Model }[]
  }
}

type Step = (walk: Walk, random: Random) => Promise<Model>

/** The shortest retention that can be set. */
const minMonths = 25

const goalConditions: readonly GoalCondition[] = [
  { kind: 'path', pattern: '/blog/**' },
  { kind: 'event', event: 'Signup' },
  { kind: 'event', event: 'Signup', property: { key: 'plan', value: 'pro' } },
]

/** What a step does to the model, if it changes events or settings. */
const unchanged = ({ model }: Walk): Model => model

export const steps: Record<string, Step> = {
  async events(walk, random) {
    const events = eventsFor(walk, random)
    await walk.installation.accept(events)
    return withEvents(walk.model, events)
  },

  async 'roll up'(walk, random) {
    const { shard, site } = await anySite(walk, random)
    const stores = walk.installation.of(shard)
    const yesterday = zoned(walk.now, site.zone).toPlainDate().subtract({ days: 1 })
    const last = random.oneIn(3) ? yesterday.subtract({ days: random.below(60) }) : yesterday
    if (random.oneIn(4)) await rebuildSite(stores, site.id, last.toString())
    else await rollUpSite(stores, site.id, last.toString())
    if (random.oneIn(3)) await sweep(stores, '0 seconds')
    return unchanged(walk)
  },

  async 'count today'(walk, random) {
    const { shard, site } = await anySite(walk, random)
    await rollUpToday(walk.installation.of(shard), site.id, site.zone, walk.now)
    return unchanged(walk)
  },

  async retention(walk, random) {
    const from = Temporal.Instant.fromEpochMilliseconds(walk.now)
      .toZonedDateTimeISO('UTC')
      .toPlainDate()
      .with({ day: 1 })
      .subtract({ months: minMonths + random.below(12) })
      .toString()
    const stores = walk.installation.stores()
    await declareRetention(stores.postgres, from)
    await rollUpBeforeDropping(stores, {})
    await dropRolledUpMonths(stores, '0 seconds')
    for (const shard of byShard(stores)) await noteInClickHouse(shard) // as the next round does
    return from < walk.model.settings.eventsFrom ? unchanged(walk) : withRetention(walk.model, from)
  },

  async 'time zone'(walk, random) {
    const { site } = await anySite(walk, random)
    const zone = random.pick(zones)
    await setTimeZone(walk.installation.stores().postgres, site.id, zone)
    return { ...walk.model, settings: withSite(walk.model.settings, { ...site, zone }) }
  },

  async exclusion(walk, random) {
    const { site } = await anySite(walk, random)
    const excludedCountries = random.sample<CountryCode>(['DE', 'US', 'FR', 'IN', 'ZZ'], random.below(4))
    await setExcludedCountries(walk.installation.stores().postgres, site.id, excludedCountries)
    return { ...walk.model, settings: withSite(walk.model.settings, { ...site, excludedCountries }) }
  },

  async goal(walk, random) {
    const { site } = await anySite(walk, random)
    const { postgres } = walk.installation.stores()
    const goal: Goal = { name: random.pick(['Blog', 'Signup', 'signup']), condition: random.pick(goalConditions) }
    const others = site.goals.filter(({ name }) => name !== goal.name)
    const isNew = others.length === site.goals.length
    const isDeleted = !isNew && random.oneIn(2)
    if (isNew) await createGoal(postgres, site.id, goal)
    else if (isDeleted) await deleteGoal(postgres, site.id, goal.name)
    else await replaceGoal(postgres, site.id, goal.name, goal)
    const goals = isDeleted ? others : [...others, goal].sort((one, other) => (one.name < other.name ? -1 : 1))
    return { ...walk.model, settings: withSite(walk.model.settings, { ...site, goals }) }
  },

  async import(walk, random) {
    const { site } = await anySite(walk, random)
    const file = fileOf(walk, random.below(4))
    const words = ['import', site.domain, file.path]
    // A command that is killed, or whose connections are ended, is repeated.
    if (random.oneIn(3)) {
      await walk.installation.footfall(words, 300 + random.below(1_200))
    } else if (random.oneIn(2)) {
      const cut = (async () => {
        await pause(300 + random.below(900))
        await walk.installation.endConnections()
      })()
      await walk.installation.footfall(words)
      await cut
    }
    const { code, stderr } = await walk.installation.footfall(words)
    if (code !== 0) throw new Error(`footfall import: ${stderr}`)
    const { settings, traffic } = walk.model
    const name = `${site.id} ${file.number}`
    if (settings.imported.includes(name)) return walk.model
    const imported = [...settings.imported, name]
    return withEvents({ settings: { ...settings, imported }, traffic }, file.eventsOf(site))
  },

  async undo(walk, random) {
    const { settings, traffic } = walk.model
    const imported = settings.sites.flatMap((site) =>
      [0, 1, 2, 3]
        .filter((number) => settings.imported.includes(`${site.id} ${number}`))
        .map((number) => ({ site, number })),
    )
    if (imported.length === 0) return unchanged(walk)
    const { site, number } = random.pick(imported)
    const { stdout } = await walk.installation.footfall(['import', 'list', site.domain, '--json'])
    const list = JSON.parse(stdout) as { id: string; state: string; files: string[]; firstDay: string }[]
    const found = list.find(({ state, files }) => state !== 'undone' && files[0] === `import-${number}.csv`)
    if (!found) throw new Error(`import ${number} of ${site.domain} is not listed`)
    const words = ['import', 'undo', site.domain, found.id]
    if (random.oneIn(2)) await walk.installation.footfall(words, 300 + random.below(1_200))
    const { code, stderr } = await walk.installation.footfall(words)
    if (found.firstDay < settings.eventsFrom) {
      if (!/dropped by RETENTION_MONTHS/.test(stderr)) throw new Error(`footfall import undo: ${stderr}`)
      return unchanged(walk)
    }
    if (code !== 0 && !/was undone before/.test(stderr)) throw new Error(`footfall import undo: ${stderr}`)
    const events = new Map(traffic.events)
    const left = events.get(site.id)?.filter(({ eventId }) => !eventId.startsWith(`import ${number} `)) ?? []
    events.set(site.id, left)
    const stillImported = settings.imported.filter((name) => name !== `${site.id} ${number}`)
    return { settings: { ...settings, imported: stillImported }, traffic: { ...traffic, events } }
  },

  async 'import sums'(walk, random) {
    const { site } = await anySite(walk, random)
    return importSums(walk, random, site)
  },

  'undo sums': undoSums,

  async move(walk, random) {
    const { shard, site } = await anySite(walk, random)
    const { cluster, postgres } = walk.installation.stores()
    const target = 1 + random.below(cluster.shards.length)
    if (target === shard) return unchanged(walk)
    // As if 22 minutes had passed since the last move.
    await postgres`UPDATE deleted_sites SET erase_after = now()`
    for (const stores of byShard({ postgres, cluster })) await eraseRows(stores)
    await postgres`UPDATE deleted_sites SET erased_at = now() - interval '3 minutes'`
    if (random.oneIn(3)) {
      await walk.installation.footfall(['site', 'move', site.domain, `${target}`], 400 + random.below(2_000))
      await walk.installation.expireLeases()
      return unchanged(walk)
    }
    const events = random.oneIn(2) ? eventsFor(walk, random) : []
    await walk.installation.accept(events)
    await moveSite({ postgres, cluster }, { siteId: site.id, shard: target, heardMs: 1_000 })
    return withEvents(walk.model, events)
  },

  async 'delete and create again'(walk, random) {
    const { shard, site } = await anySite(walk, random)
    const { installation, model } = walk
    await deleteSite(installation.stores().postgres, site.id)
    await eraseRows(installation.of(shard)) // an older PostgreSQL has the site again, without events
    await noteInClickHouse(installation.of(shard)) // as the next round does
    const zone = random.pick(zones)
    const created = await installation.createSite(site.domain, zone)
    const next: SiteSettings = { ...created, domain: site.domain, zone, excludedCountries: [], goals: [] }
    const events = new Map(model.traffic.events)
    events.delete(site.id)
    const sites = model.settings.sites.map((one) => (one === site ? next : one))
    const deleted = [...model.settings.deleted, site.id]
    const isOther = (one: { siteId: string }) => one.siteId !== site.id
    return {
      settings: { ...model.settings, sites, deleted, sums: model.settings.sums.filter(isOther) },
      traffic: { ...model.traffic, events, sums: model.traffic.sums.filter(isOther) },
    }
  },

  async backup(walk, random) {
    const folder = join(walk.installation.folder, `backup-${walk.dumps.backups.length}-${random.below(1e9)}`)
    if (random.oneIn(4)) {
      await walk.installation.footfall(['backup', `${folder}-killed`], 300 + random.below(1_000))
    }
    await walk.installation.settle()
    const { code, stderr } = await walk.installation.footfall(['backup', folder])
    if (code !== 0) throw new Error(`footfall backup: ${stderr}`)
    walk.dumps.backups.push({ folder, model: walk.model })
    return unchanged(walk)
  },

  async restore(walk, random) {
    if (walk.dumps.backups.length === 0) return (steps.backup as Step)(walk, random)
    const { folder, model } = random.pick(walk.dumps.backups)
    const { installation } = walk
    await installation.killShipper()
    const waiting = random.oneIn(2) ? eventsFor(walk, random) : []
    await installation.accept(waiting)
    await installation.restore(folder)
    installation.startShipper()
    walk.mail.expected.clear()
    walk.webhooks.expected.clear()
    // Dumps of the old databases are of another installation.
    walk.dumps.postgres = []
    walk.dumps.clickhouse = []
    return withEvents(model, waiting)
  },

  async 'dump PostgreSQL'(walk) {
    const { settings } = walk.model
    walk.dumps.postgres.push({ file: await walk.installation.dumpPostgres(), settings })
    return unchanged(walk)
  },

  async 'dump ClickHouse'(walk) {
    await walk.installation.settle()
    const { traffic } = walk.model
    walk.dumps.clickhouse.push({ backup: await walk.installation.dumpClickHouse(), traffic })
    return unchanged(walk)
  },

  async 'restore dumps'(walk, random) {
    const { installation, dumps } = walk
    if (dumps.postgres.length === 0) await (steps['dump PostgreSQL'] as Step)(walk, random)
    if (dumps.clickhouse.length === 0) await (steps['dump ClickHouse'] as Step)(walk, random)
    const which = random.below(3)
    const settings = which === 1 ? undefined : random.pick(dumps.postgres)
    const traffic = which === 0 ? undefined : random.pick(dumps.clickhouse)
    await installation.settle()
    await installation.killShipper()
    const waiting = random.oneIn(2) ? eventsFor(walk, random) : []
    await installation.accept(waiting)
    if (settings) await installation.restorePostgres(settings.file)
    if (traffic) await installation.restoreClickHouse(traffic.backup)
    await installation.migrate()
    if (random.oneIn(2)) await installation.restartApi()
    if (random.oneIn(2)) installation.startShipper()
    // The process that rolls up, which begins an epoch.
    await verifyLedger(installation.stores())
    walk.mail.expected.clear()
    walk.webhooks.expected.clear()
    const next = restored(settings?.settings ?? walk.model.settings, traffic?.traffic ?? walk.model.traffic)
    return withEvents(next, waiting)
  },

  'kill the shipper': whileShipping(({ installation }) => installation.killShipper()),

  'kill ClickHouse': whileShipping(async (walk, random) => {
    await away(walk, anyServer(walk, random), 'kill')
    await walk.away?.start()
    walk.away = undefined
  }),

  'kill PostgreSQL': whileShipping(async ({ installation: { servers } }) => {
    await servers.postgres.kill()
    await servers.postgres.start()
  }),

  async 'kill a rollup'(walk, random) {
    await walk.installation.footfall(['rollup', 'run'], 400 + random.below(1_500))
    await walk.installation.expireLeases()
    return unchanged(walk)
  },

  'end connections': whileShipping(({ installation }) => installation.endConnections()),

  async mail(walk, random) {
    const stores = walk.installation.stores()
    for (let message = random.below(3); message >= 0; message--) await queueMail(walk.mail, stores)
    // Otherwise they wait, also in dumps, and a later step sends them.
    if (!random.oneIn(3)) await sendMail(walk.mail, stores)
    return unchanged(walk)
  },

  async webhook(walk, random) {
    const stores = walk.installation.stores()
    const { site } = await anySite(walk, random)
    for (let message = random.below(3); message >= 0; message--) await queueForWebhook(walk.webhooks, stores, site.id)
    if (!random.oneIn(3)) await deliverToWebhooks(walk.webhooks, stores)
    return unchanged(walk)
  },

  async 'full spool'(walk, random) {
    const events = eventsFor(walk, random)
    if (events.length > 0 && !(await walk.installation.refusesWhenFull(events)))
      throw new Error('A full spool accepts events')
    return unchanged(walk)
  },
}

/** Breaks something before, while or after events are shipped. */
function whileShipping(breakIt: (walk: Walk, random: Random) => Promise<void>): Step {
  return async (walk, random) => {
    const events = eventsFor(walk, random)
    await walk.installation.accept(events)
    await pause(random.below(1_500))
    await breakIt(walk, random)
    return withEvents(walk.model, events)
  }
}

/** Only with replicas. */
export const replicaSteps: Record<string, Step> = {
  async 'kill a replica'(walk, random) {
    await away(walk, anyServer(walk, random), 'kill')
    const events = eventsFor(walk, random)
    await walk.installation.accept(events)
    return withEvents(walk.model, events)
  },

  async 'stop a replica'(walk, random) {
    const server = anyServer(walk, random)
    await server.stop()
    const events = eventsFor(walk, random)
    await walk.installation.accept(events)
    await pause(random.below(3_000))
    await server.resume()
    return withEvents(walk.model, events)
  },

  async 'wipe a replica'(walk, random) {
    const server = anyServer(walk, random)
    await away(walk, server, 'wipe')
    const events = eventsFor(walk, random)
    await walk.installation.accept(events)
    await walk.installation.replace(server)
    walk.away = undefined
    return withEvents(walk.model, events)
  },
}

/** Only while the others have all rows: two disks that are lost at once lose rows. */
async function away(walk: Walk, server: Server, how: 'kill' | 'wipe'): Promise<void> {
  await walk.installation.untilReplicasAreComplete()
  walk.away = server
  await server[how]?.()
}

const anyServer = ({ installation }: Walk, random: Random): Server =>
  random.pick(installation.servers.clickhouse.shards.flat())

/** On time and late, at midnight and when clocks change. */
function eventsFor({ model, now }: Walk, random: Random): TrafficEvent[] {
  const site = random.pick(model.settings.sites)
  const at = random.oneIn(3) ? now - random.below(48) * 30 * 86_400_000 : now
  const { events } = makeWorld(random.uuid(), 0, at, site.zone)
  return events.slice(0, 40).map((event) => ({ ...event, siteId: site.id, eventId: random.uuid() }))
}

async function anySite({ installation, model }: Walk, random: Random): Promise<{ site: SiteSettings; shard: number }> {
  const site = random.pick(model.settings.sites)
  const shard = (await installation.shardsOf()).get(site.id)
  if (shard === undefined) throw new Error(`PostgreSQL does not know ${site.domain}`)
  return { site, shard }
}

/** One of some files, with a visitor of its own in each line. */
function fileOf({ installation, now }: Walk, number: number) {
  const path = join(installation.folder, `import-${number}.csv`)
  const times = Array.from({ length: 30 }, (_, index) => now - (60 - index) * 9 * 3_600_000 * (1 + number) - number)
  const details = `Firefox,Linux,email,c${number},hero,"a, b","{""plan"":""pro""}",19.90,EUR`
  const lines = times.map(
    (time, index) =>
      `${new Date(time).toISOString()},https://example.com/imported-${number},v${index},DE,Desktop,${details}`,
  )
  const header =
    'time,url,visitor,country,device,browser,os,utm_medium,utm_campaign,utm_content,utm_term,props,revenue,currency'
  writeFileSync(path, `${header}\n${lines.join('\n')}\n`)
  return {
    path,
    number,
    eventsOf: ({ id, zone }: SiteSettings): TrafficEvent[] =>
      times.map((time, index) => ({
        siteId: id,
        day: zoned(time, zone).toPlainDate().toString(),
        time,
        visitorId: `${1_000 * (number + 1) + index}`,
        sessionId: `${1_000 * (number + 1) + index}`,
        eventId: `import ${number} ${index}`,
        name: 'pageview',
        hostname: 'example.com',
        pathname: `/imported-${number}`,
        title: '',
        referrer: '',
        channel: 'Email',
        utmSource: '',
        campaign: { medium: 'email', campaign: `c${number}`, content: 'hero', term: 'a, b' },
        country: 'DE',
        device: 'Desktop',
        browser: 'Firefox',
        os: 'Linux',
        props: { plan: 'pro' },
        revenue: { amount: 1_990, currency: 'EUR' },
        importId: 'import',
      })),
  }
}
