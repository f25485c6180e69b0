// An installation for `npm run try` and `npm run dev`: ClickHouse, PostgreSQL and a demo site with 13 months of traffic. The databases come
// from npm and store their data in the folder of the installation; the next start continues with the same data.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createAccount } from '../src/accounts/accounts.ts'
import { createKey } from '../src/accounts/keys.ts'
import { createSite, findSite } from '../src/accounts/sites.ts'
import { clusterOf } from '../src/cluster/cluster.ts'
import { migrate } from '../src/cluster/migrate.ts'
import { readConfig } from '../src/config.ts'
import { generateDemo } from '../src/demo/generate.ts'
import { eraseSites } from '../src/erasure/rows.ts'
import { HintedError } from '../src/process/error-hints.ts'
import { forgetRollups } from '../src/rollups/invalidation.ts'
import { createClickHouseDatabase, openClickHouse } from '../src/stores/clickhouse.ts'
import { openPostgres } from '../src/stores/postgres.ts'
import { addMember } from '../src/users/members.ts'
import { createLink, linkAddress } from '../src/users/one-time-links.ts'
import { createPasswords } from '../src/users/passwords.ts'
import { createUser, findUser } from '../src/users/users.ts'
import { clickhouseMissing, freePort, startClickHouse } from './clickhouse/server.ts'

export interface InstallationOptions {
  /** The folder in .footfall. */
  name: 'try' | 'dev'
  events: number
  /** Deletes the data of earlier starts. */
  fresh: boolean
  /** Databases to use instead of those from npm. */
  clickhouseUrl?: string | undefined
  databaseUrl?: string | undefined
  /** Throws if something is in the way. It runs once the folder is ours: another `try` explains a port that is taken. */
  check(): Promise<void>
}

export interface Installation extends AsyncDisposable {
  folder: string
  settings: { DATABASE_URL: string; CLICKHOUSE_URL: string; KEY_SECRETS: string }
  /** Reads the demo site. */
  key: string
  /** Signs in to the console and owns the demo site. */
  owner: { email: string; password: string }
  /** An address that opens the dashboard of the demo site signed in: once, within ten minutes. */
  signInAddress(base: string): Promise<string>
}

/** How long `try` and `dev` may take to end. ClickHouse alone takes five seconds, or more on a busy machine. */
export const maxEndMs = 8_500

const domain = 'demo.example'
const timeZone = 'Europe/Berlin'
const ownerEmail = 'owner@demo.example'

export async function startInstallation(options: InstallationOptions): Promise<Installation> {
  const folder = join(import.meta.dirname, '../.footfall', options.name)
  // Stopped in reverse order after success or failure: ClickHouse and PostgreSQL must not outlive this process.
  await using started = new AsyncDisposableStack()
  const lock = lockFolder(folder, options.name)
  started.defer(() => lock.close())
  await options.check() // before everything starts, which takes seconds
  if (options.fresh) rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })

  console.log('Starting ClickHouse and PostgreSQL …')
  const clickhouseUrl = options.clickhouseUrl ?? (await clickhouseFromNpm(folder, started))
  const databaseUrl = options.databaseUrl ?? (await postgresFromNpm(folder, options.name, started))
  const noteFile = join(folder, 'note.json')
  /** What the next start needs: the secret, and what Footfall itself never shows again. */
  const note = existsSync(noteFile)
    ? (JSON.parse(readFileSync(noteFile, 'utf8')) as { secret: string; password: string; key: string | null })
    : { secret: randomBytes(32).toString('base64url'), password: randomBytes(9).toString('base64url'), key: null }
  const settings = { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl, KEY_SECRETS: `1:${note.secret}` }
  const owner = { email: ownerEmail, password: note.password }
  const key = await fillDemoSite(settings, { knownKey: note.key, owner, events: options.events })
  writeFileSync(noteFile, JSON.stringify({ ...note, key }), { mode: 0o600 })
  const running = started.move()
  return {
    folder,
    settings,
    key,
    owner,
    signInAddress: (base) => signInAddress(settings.DATABASE_URL, base),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** The lock is beside the folder, which `--fresh` removes. The kernel releases it even after a crash. */
function lockFolder(folder: string, name: string): DatabaseSync {
  mkdirSync(join(folder, '..'), { recursive: true, mode: 0o700 })
  const lock = new DatabaseSync(`${folder}.lock`)
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch {
    throw new HintedError(`Another npm run ${name} uses .footfall/${name}.`, 'End it with Ctrl-C first.')
  }
}

async function signInAddress(databaseUrl: string, base: string): Promise<string> {
  const postgres = openPostgres(databaseUrl, 1)
  try {
    const user = await findUser(postgres, ownerEmail)
    if (!user) throw new HintedError(`There is no user ${ownerEmail} any more.`, 'Start again with --fresh.')
    const token = await createLink(postgres, { purpose: 'sign-in', userId: user.id })
    return `${linkAddress(base, 'sign-in', token)}?next=/sites/${domain}`
  } finally {
    await postgres.end({ timeout: 1 })
  }
}

async function clickhouseFromNpm(folder: string, started: AsyncDisposableStack): Promise<string> {
  const missing = clickhouseMissing()
  if (missing) throw new HintedError(missing, 'Start compose.dev.yaml and set CLICKHOUSE_URL (CONTRIBUTING.md).')
  const server = await startClickHouse({ folder: join(folder, 'clickhouse') })
  process.once('exit', () => void server.kill()) // it must not outlive this process, even if it hangs
  started.defer(() => server.stop())
  return `${server.url}/footfall`
}

async function postgresFromNpm(folder: string, name: string, started: AsyncDisposableStack): Promise<string> {
  const port = await freePort()
  const script = join(import.meta.dirname, 'postgres/pglite.ts')
  const database = spawn(process.execPath, [script, join(folder, 'postgres'), `${port}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(database, 'exit')
  process.once('exit', () => database.kill('SIGKILL'))
  started.defer(async () => {
    database.stdin.end()
    await ended
  })
  await Promise.race([
    once(database.stdout, 'data'),
    ended.then(() => {
      throw new HintedError('PostgreSQL did not start.', `Try again with: npm run ${name} -- --fresh`)
    }),
  ])
  return `postgres://postgres@127.0.0.1:${port}/postgres`
}

/** Returns a key that reads the site; the existing one when the site was filled before. */
async function fillDemoSite(
  settings: Installation['settings'],
  { knownKey, owner, events }: { knownKey: string | null; owner: Installation['owner']; events: number },
): Promise<string> {
  const { KEY_SECRETS } = readConfig(settings)
  const postgres = openPostgres(settings.DATABASE_URL)
  await createClickHouseDatabase(settings.CLICKHOUSE_URL)
  const clickhouse = openClickHouse(settings.CLICKHOUSE_URL)
  try {
    await migrate({ postgres, cluster: clusterOf([clickhouse]) })
    const known = await findSite(postgres, domain)
    if (known && knownKey) return knownKey
    const accountId = known?.accountId ?? (await createAccount(postgres, { name: 'Demo', plan: 'Agency' }))
    if (!(await findUser(postgres, owner.email))) {
      const userId = await createUser(postgres, owner.email, await createPasswords().hash(owner.password))
      await addMember(postgres, accountId, userId, 'owner')
    }
    const siteId = known?.id ?? (await createSite(postgres, { accountId, domain, timeZone }))
    if (known) {
      // The last start ended before the site was full.
      await forgetRollups(postgres, siteId)
      await eraseSites(clickhouse, async () => [siteId])
    }
    console.log(`Generating 13 months of traffic, ${events.toLocaleString('en')} events …`)
    await generateDemo({ clickhouse, siteId, domain, zone: timeZone, events, seed: 1, until: Date.now() })
    return (await createKey(postgres, KEY_SECRETS, { accountId, siteId, name: 'Demo' })).text
  } finally {
    await Promise.all([postgres.end({ timeout: 1 }), clickhouse.close()])
  }
}
