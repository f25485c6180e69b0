// Scheduled backups as operators have them: `footfall serve` makes them, `doctor` and a metric say how old the last one is.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { nameOf } from '../../src/cli/backup-schedule.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { eventually } from '../support/eventually.ts'
import { inherited } from '../support/inherited.ts'
import { type Installation, install, runFootfall } from '../support/installation.ts'
import { keySecretsSetting, launchServe, type ServeProcess } from '../support/serve-process.ts'

const hourMs = 3_600_000
const isGood = (name: string) => /^scheduled-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/.test(name)

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-backups-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function serve(t: TestContext, { addresses }: Installation, folder: string): Promise<ServeProcess> {
  const server = await launchServe(addresses, { BACKUP_FOLDER: folder, DRAIN_SECONDS: '0' })
  t.after(() => server.kill())
  return server
}

async function age({ metricsUrl }: ServeProcess): Promise<number> {
  const text = await (await fetch(metricsUrl)).text()
  return Number(/^footfall_backup_age_seconds (\S+)$/m.exec(text)?.[1]?.replace('+Inf', 'Infinity'))
}

test('of two servers that share a folder one makes a backup, and a restart makes no other', async (t) => {
  const installation = await install()
  t.after(() => installation.remove())
  await installation.json('site', 'create', 'scheduled.example')
  await installation.json('demo', 'scheduled.example', '--events', '10000')
  const folder = join(folderFor(t), 'backups')
  const settings = { ...installation.environment, BACKUP_FOLDER: folder }
  const doctor = async () => {
    const { stdout } = await runFootfall(['doctor', '--json'], settings)
    return JSON.parse(stdout).find(({ check }: { check: string }) => check === 'Backups')
  }
  assert.deepEqual((await doctor()).state, 'warning')

  const servers = [await serve(t, installation, folder), await serve(t, installation, folder)] as const
  for (const server of servers) await server.untilReady()
  const logs = () => servers.map(({ log }) => log()).join('')
  await eventually(async () => assert.match(logs(), /made a backup/))
  for (const server of servers) assert.ok((await age(server)) < 60)
  const made = readdirSync(folder)
  assert.deepEqual([made.length, made.every(isGood)], [1, true])
  assert.doesNotMatch(logs(), /backup failed/)

  const { state, found } = await doctor()
  assert.deepEqual([state, found.includes(made[0])], ['ok', true])
  await Promise.all(servers.map((server) => server.stop()))
  const again = await serve(t, installation, folder)
  await again.untilReady()
  await sleep(2_000)
  assert.deepEqual(readdirSync(folder), made)
  await again.stop()

  // A week later, the last good one is a week old.
  renameSync(join(folder, made[0] as string), join(folder, nameOf(Date.now() - 7 * 24 * hourMs)))
  const stale = await doctor()
  assert.deepEqual([stale.state, /168 hours/.test(stale.found)], ['warning', true])
})

test('a backup that is killed is never called good, and the next one removes what it left', async (t) => {
  const installation = await install()
  t.after(() => installation.remove())
  const postgres = openPostgres(installation.addresses.postgres, 1)
  t.after(() => postgres.end({ timeout: 1 }))
  await postgres`INSERT INTO deleted_sites (id) SELECT 'site_' || number FROM generate_series(1, 300000) AS number`
  const folder = folderFor(t)
  mkdirSync(join(folder, 'footfall-2026-01-01'))
  const settings = { ...installation.environment, BACKUP_FOLDER: folder, BACKUP_KEEP: '1d' }
  const main = new URL('../../src/cli/main.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [main, 'backup', '--scheduled'], { env: { ...inherited, ...settings } })
  while (!readdirSync(folder).some((name) => name.endsWith('.unfinished'))) await sleep(1)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const left = readdirSync(folder).filter((name) => name !== 'footfall-2026-01-01')
  assert.deepEqual([left.length, left.some(isGood)], [1, false])
  assert.ok(!existsSync(join(folder, left[0] as string, 'manifest.json')))

  await sleep(1_000) // its name is of another second
  await eventually(async () => {
    const { code, stderr } = await runFootfall(['backup', '--scheduled'], settings)
    assert.equal(code, 0, stderr) // PostgreSQL notices after a moment that the other one is gone
  })
  const names = readdirSync(folder)
  assert.deepEqual([names.length, names.includes('footfall-2026-01-01'), names.some(isGood)], [2, true, true])
})

test('footfall backup --scheduled without a folder says what to set', async () => {
  const { code, stderr } = await runFootfall(['backup', '--scheduled'], { KEY_SECRETS: keySecretsSetting })
  assert.equal(code, 1)
  assert.match(stderr, /BACKUP_FOLDER is not set\.\n {2}Set it/)
})

const isRoot = process.getuid?.() === 0
test('what root makes for a service belongs to the user of the service, who can delete it', {
  skip: isRoot ? false : 'Only root can give files to another user.',
}, async (t) => {
  const installation = await install()
  t.after(() => installation.remove())
  const own = folderFor(t)
  const service = 61_184 // an id that nobody has, as systemd gives one
  chownSync(own, service, service)
  const BACKUP_FOLDER = join(own, 'of/footfall')
  const { code, stderr } = await runFootfall(['backup', '--scheduled'], { ...installation.environment, BACKUP_FOLDER })
  assert.equal(code, 0, stderr)
  const made = readdirSync(own, { recursive: true }) as string[]
  assert.ok(made.some((name) => name.endsWith('manifest.json')))
  for (const name of made) {
    const { uid, gid } = statSync(join(own, name))
    assert.deepEqual([uid, gid], [service, service], name)
  }

  // A backup with a name of its own is for whoever made it.
  const named = join(own, 'named')
  assert.equal((await runFootfall(['backup', named], installation.environment)).code, 0)
  assert.equal(statSync(named).uid, 0)
})
