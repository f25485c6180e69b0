// An operator who works while stores are broken: changes time zones, rolls up, rebuilds, several at once, and deletes a site. A command
// may fail while a store is down, but it may leave nothing wrong behind.

import { eventually } from '../../support/eventually.ts'
import type { Random } from '../../support/random.ts'
import { type Check, pause } from '../runner.ts'
import type { ChaosSite, Installation } from './installation.ts'

const zones = ['Pacific/Auckland', 'America/Los_Angeles', 'UTC', 'Asia/Kolkata']

export interface Operated {
  zoneChanges: number
  rollups: number
  rebuilds: number
  failed: number
}

export async function operate(
  check: Check,
  installation: Installation,
  { random, until, deleteAfterMs }: { random: Random; until: number; deleteAfterMs: number },
): Promise<Operated> {
  const { restless, doomed, footfall } = installation
  const operated: Operated = { zoneChanges: 0, rollups: 0, rebuilds: 0, failed: 0 }
  const deleteAt = until - deleteAfterMs
  let isDeleted = false

  async function command(...words: string[]): Promise<boolean> {
    const { code } = await footfall(...words)
    if (code !== 0) operated.failed++
    return code === 0
  }
  const rollUp = async (domain: string) => {
    if (await command('rollup', 'run', '--site', domain)) operated.rollups++
  }
  const rebuild = async (domain: string) => {
    if (await command('rollup', 'rebuild', '--site', domain)) operated.rebuilds++
  }

  const moveZone = async (domain: string) => {
    const zone = random.pick([installation.justClosedZone, ...zones])
    if (await command('site', 'timezone', domain, zone)) operated.zoneChanges++
  }
  const works = [
    moveZone,
    moveZone,
    rollUp,
    rebuild,
    (domain: string) => Promise.all([rebuild(domain), rollUp(domain)]),
    (domain: string) => Promise.all([rebuild(domain), rebuild(domain), moveZone(domain)]),
    (domain: string) => Promise.all([rollUp(isDeleted ? domain : doomed.domain), rebuild(domain)]),
  ]

  // Every kind of work happens before one repeats.
  let left: typeof works = []
  while (performance.now() < until) {
    if (left.length === 0) left = random.sample(works, works.length)
    if (!isDeleted && performance.now() > deleteAt) isDeleted = await deleteSite(check, installation)
    else await left.pop()?.(random.pick(restless).domain)
    await pause(random.below(500))
  }
  for (let attempt = 0; !isDeleted; attempt++) {
    if (attempt > 20) throw new Error('The site could not be deleted')
    isDeleted = await deleteSite(check, installation)
    await pause(500)
  }
  return operated
}

/**
 * Runs with every store up and events still arriving. The days rolled up last are those that get late events. Three processes roll up one
 * site a moment before a slow clock writes events for the same day; the other site moves to a zone where a rolled-up day is today.
 */
export async function workOnceMore(check: Check, installation: Installation): Promise<void> {
  const [one, other] = installation.restless as [ChaosSite, ChaosSite]
  const command = (...words: string[]) => succeed(check, installation, ...words)
  await command('site', 'timezone', one.domain, installation.justClosedZone)
  await command('site', 'timezone', other.domain, 'Pacific/Auckland')
  await pause(2_000)
  await Promise.all([
    command('rollup', 'run', '--site', one.domain),
    command('rollup', 'rebuild', '--site', one.domain),
    command('rollup', 'rebuild', '--site', one.domain),
  ])
  await command('rollup', 'run', '--site', other.domain)
  await command('site', 'timezone', other.domain, 'America/Los_Angeles')
  await pause(3_000)
}

/** Retries until it succeeds: only one rollup command runs at a time, and serve may be running one. */
export async function succeed(check: Check, { footfall }: Installation, ...words: string[]): Promise<void> {
  try {
    await eventually(async () => {
      const { code, stderr } = await footfall(...words)
      if (code !== 0) throw new Error(stderr)
    }, 20_000)
  } catch (error) {
    check.fault(`footfall ${words.slice(0, 2).join(' ')}`, (error as Error).message)
  }
}

/** Retried until it is done: after an interruption the same command continues. */
async function deleteSite(check: Check, { doomed, footfall }: Installation): Promise<boolean> {
  const { code, stderr } = await footfall('site', 'delete', doomed.domain, '--yes')
  const isDeleted = code === 0 || stderr.includes('There is no site')
  check.say(isDeleted ? 'the site is deleted' : `the site is not deleted yet: ${stderr.split('\n')[0]}`)
  return isDeleted
}
