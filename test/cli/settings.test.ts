// Every command and process finds its settings in the same place, also as the user that systemd makes for the service.
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { freePort } from '../../dev/clickhouse/server.ts'
import { inherited } from '../support/inherited.ts'
import { install } from '../support/installation.ts'
import { launchProcess } from '../support/process.ts'
import { keySecretsSetting } from '../support/serve-process.ts'

const root = new URL('../..', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'footfall-settings-'))
chmodSync(folder, 0o755)
after(() => rmSync(folder, { recursive: true }))

const mains = {
  api: ['src/api/main.ts'],
  collector: ['src/collector/main.ts'],
  console: ['src/console/main.ts'],
  command: ['src/cli/main.ts', 'site', 'list'],
}

interface Started {
  code: number
  stderr: string
}

/** As a person does: nothing in the environment, in this folder. */
function start(
  words: readonly string[],
  cwd: string,
  as: readonly string[] = [],
  node = process.execPath,
): Promise<Started> {
  const [file = '', ...more] = words
  const [command = '', ...rest] = [...as, node, '--', join(root, file), ...more]
  const { FOOTFALL_NO_ENV_FILE: _, ...env } = inherited
  return new Promise((resolve) => {
    execFile(command, rest, { cwd, env, timeout: 60_000 }, (error, _stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stderr }),
    )
  })
}

const ofEachMain = (work: (name: string, words: readonly string[]) => Promise<void>) =>
  Promise.all(Object.entries(mains).map(([name, words]) => work(name, words)))

function inFolder(name: string, settings: string): string {
  mkdirSync(join(folder, name))
  writeFileSync(join(folder, name, '.env'), settings, { mode: 0o600 })
  return join(folder, name)
}

test('every process and command reads .env of its folder, or instead of it the file after --env-file', async () => {
  const cwd = inFolder('both', `KEY_SECRETS=${keySecretsSetting}\nPORT=here\n`)
  writeFileSync(join(cwd, 'other.env'), `KEY_SECRETS=${keySecretsSetting}\nPORT=named\nLOG_LEVEL=named\n`)
  const refused = async (words: readonly string[]) => (await start(words, cwd)).stderr.match(/^ {2}[A-Z_]+ must/gm)
  await ofEachMain(async (name, words) => {
    assert.deepEqual(await refused(words), ['  PORT must'], name)
    assert.deepEqual(await refused([...words, '--env-file', 'other.env']), ['  PORT must', '  LOG_LEVEL must'], name)
  })
  assert.deepEqual(await start([...mains.api, '--env-file', 'none.env'], cwd), {
    code: 1,
    stderr: `footfall: ${cwd}/none.env does not exist.\n  Check the name after --env-file.\n`,
  })
})

test('a line that is no setting keeps a process from starting', async () => {
  const cwd = inFolder('wrong', `KEY_SECRETS=${keySecretsSetting}\nPUBLIC_ULR=https://stats.example.com\n`)
  assert.deepEqual(await start(mains.collector, cwd), {
    code: 1,
    stderr: `footfall: ${cwd}/.env is not usable:\n  line 2: PUBLIC_ULR is not a setting\n  Correct these lines; docs/configuration.md describes every setting.\n`,
  })
})

test('what tests and checks start reads no file', async () => {
  const cwd = inFolder('of a developer', 'LOG_LEVEL=loud\n')
  const before = process.cwd()
  process.chdir(cwd)
  const started = launchProcess({
    name: 'API',
    command: [process.execPath, join(root, 'src/api/main.ts')],
    environment: {},
    port: 1,
    maxStopMs: 5_000,
  })
  process.chdir(before)
  await assert.rejects(started.untilReady())
  assert.match(started.log(), /KEY_SECRETS is required/)
  assert.doesNotMatch(started.log(), /LOG_LEVEL/)
})

/** As systemd with DynamicUser: an id that nobody has, without groups and rights. */
const asServiceUser = [
  'setpriv',
  ...['--reuid=61184', '--regid=61184', '--clear-groups', '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'],
]

const skip =
  process.getuid?.() !== 0
    ? 'Only root can start a process as another user.'
    : spawnSync(asServiceUser[0] as string, [...asServiceUser.slice(1), 'test', '-r', join(root, 'package.json')])
          .status !== 0
      ? 'Another user cannot read this checkout.'
      : false

/** A folder with Node, which may be in the home folder of root, where another user cannot enter. */
function nodeForEverybody(): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  copyFileSync(process.execPath, join(bin, 'node'))
  return bin
}

test('a settings file that only root can read is a matter of permission, for every process and command', {
  skip,
}, async () => {
  const cwd = inFolder('of root', `KEY_SECRETS=${keySecretsSetting}\n`)
  const bin = nodeForEverybody()
  await ofEachMain(async (name, words) => {
    assert.deepEqual(
      await start(words, cwd, asServiceUser, join(bin, 'node')),
      {
        code: 1,
        stderr: `footfall: ${cwd}/.env is there, but this user has no permission to read it.\n  Run this with sudo or as the owner of the file; a service gets /etc/footfall.env as in deploy/footfall.service.\n`,
      },
      name,
    )
  })
})

/** The values of a directive of deploy/footfall.service. */
const unit = readFileSync(join(root, 'deploy/footfall.service'), 'utf8')
const directive = (name: string): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value as string)

test('the service starts as systemd starts it, and doctor uses the same root-owned file', {
  skip,
  timeout: 120_000,
}, async (t) => {
  const installation = await install()
  t.after(() => installation.remove())
  const port = await freePort()
  const settings = join(folder, 'footfall.env')
  const lines = {
    ...installation.environment,
    PORT: `${port}`,
    METRICS_PORT: `${await freePort()}`,
    COLLECTOR_METRICS_PORT: `${await freePort()}`,
  }
  const text = Object.entries(lines)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
  writeFileSync(settings, text, { mode: 0o600 })

  // What systemd does with the unit. The checkout is this one, and /etc and /var/lib are folders of the test.
  const [credential, source] = directive('LoadCredential')[0]?.split(':') ?? []
  assert.equal(source, '/etc/footfall.env')
  assert.deepEqual([directive('DynamicUser'), directive('WorkingDirectory')], [['yes'], ['/opt/footfall']])
  const [credentials, state] = [join(folder, 'credentials'), join(folder, 'state')]
  for (const one of [credentials, state]) {
    mkdirSync(one, { mode: 0o700 })
    execFileSync('chown', ['61184:61184', one])
  }
  copyFileSync(settings, join(credentials, credential as string))
  chmodSync(join(credentials, credential as string), 0o400)
  execFileSync('chown', ['61184:61184', join(credentials, credential as string)])
  const environment = Object.fromEntries(
    directive('Environment').flatMap((value) => value.split(' ').map((one) => one.split('=') as [string, string])),
  )
  const words = (directive('ExecStart')[0] as string)
    .replace('/opt/footfall/', root)
    .replace(/\$\{CREDENTIALS_DIRECTORY\}/, credentials)
    .split(' ')
  const service = launchProcess({
    name: 'service',
    command: [...asServiceUser, 'env', '--chdir', root, ...words],
    environment: {
      ...environment,
      PATH: `${nodeForEverybody()}:${environment.PATH}`,
      SPOOL_FOLDER: environment.SPOOL_FOLDER?.replace('/var/lib/footfall', state),
      NODE_COMPILE_CACHE: undefined,
      FOOTFALL_NO_ENV_FILE: undefined,
    },
    port,
    maxStopMs: 20_000,
  })
  t.after(() => service.kill())
  await service.untilReady()

  const doctor = await start(['src/cli/main.ts', 'doctor', '--env-file', settings, '--json'], '/')
  assert.deepEqual(doctor, { code: 0, stderr: '' })
  assert.equal(await service.stop(), 0)
})
