// An operator who does not mind what is broken: changes time zones, folds, folds again, several at once, and deletes a site. A command
// may fail while a store is away; it may not leave anything wrong behind.
import type { Random } from '../../oracle/random.ts'
import { eventually } from '../../support/eventually.ts'
import { type Check, pause } from '../fuzz/runner.ts'
import type { ChaosSite, Installation } from './installation.ts'

const zones = ['Pacific/Auckland', 'America/Los_Angeles', 'UTC', 'Asia/Kolkata']

export interface Operated {
  zoneChanges: number
  folds: number
  rebuilds: number
  failed: number
}

export async function operate(
  check: Check,
  installation: Installation,
  { random, until, deleteAfterMs }: { random: Random; until: number; deleteAfterMs: number },
): Promise<Operated> {
  const { restless, doomed, footfall } = installation
  const operated: Operated = { zoneChanges: 0, folds: 0, rebuilds: 0, failed: 0 }
  const deleteAt = until - deleteAfterMs
  let isDeleted = false

  async function command(...words: string[]): Promise<boolean> {
    const { code } = await footfall(...words)
    if (code !== 0) operated.failed++
    return code === 0
  }
  const fold = async (domain: string) => {
    if (await command('fold', 'run', '--site', domain)) operated.folds++
  }
  const rebuild = async (domain: string) => {
    if (await command('fold', 'rebuild', '--site', domain)) operated.rebuilds++
  }

  const moveZone = async (domain: string) => {
    const zone = random.pick([installation.justClosedZone, ...zones])
    if (await command('site', 'timezone', domain, zone)) operated.zoneChanges++
  }
  const works = [
    moveZone,
    moveZone,
    fold,
    rebuild,
    (domain: string) => Promise.all([rebuild(domain), fold(domain)]),
    (domain: string) => Promise.all([rebuild(domain), rebuild(domain), moveZone(domain)]),
    (domain: string) => Promise.all([fold(isDeleted ? domain : doomed.domain), rebuild(domain)]),
  ]

  // Each comes before one comes again.
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
 * With every store there again and events still coming: what is folded last is what events come late for. One site is folded by three at
 * once a moment before a slow clock writes events of the same day; the other moves to a zone where a folded day is today.
 */
export async function workOnceMore(check: Check, installation: Installation): Promise<void> {
  const [one, other] = installation.restless as [ChaosSite, ChaosSite]
  const command = (...words: string[]) => succeed(check, installation, ...words)
  await command('site', 'timezone', one.domain, installation.justClosedZone)
  await command('site', 'timezone', other.domain, 'Pacific/Auckland')
  await pause(2_000)
  await Promise.all([
    command('fold', 'run', '--site', one.domain),
    command('fold', 'rebuild', '--site', one.domain),
    command('fold', 'rebuild', '--site', one.domain),
  ])
  await command('fold', 'run', '--site', other.domain)
  await command('site', 'timezone', other.domain, 'America/Los_Angeles')
  await pause(3_000)
}

/** Repeated until it succeeds: folding is one command at a time, and serve may be at it. */
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

/** Repeated until it is done: whatever broke off, the same command goes on. */
async function deleteSite(check: Check, { doomed, footfall }: Installation): Promise<boolean> {
  const { code, stderr } = await footfall('site', 'delete', doomed.domain, '--yes')
  const isDeleted = code === 0 || stderr.includes('There is no site')
  check.say(isDeleted ? 'a site is deleted' : `a site is not deleted yet: ${stderr.split('\n')[0]}`)
  return isDeleted
}
