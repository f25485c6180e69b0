// A process that cannot start prints one sentence and what to do next, exits with 1, and leaves nothing running.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { freePort } from '../../dev/clickhouse/server.ts'
import { startCollectorProcess } from '../support/collector-process.ts'
import { inherited } from '../support/inherited.ts'
import { keySecrets, openStores, type StoreAddresses } from '../support/stores.ts'

let addresses: StoreAddresses
let taken: Server
let takenPort: string

before(async () => {
  ;({ addresses } = await openStores())
  taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  takenPort = `${(taken.address() as { port: number }).port}`
})
after(() => taken.close())

const mains = {
  api: ['src/api/main.ts'],
  collector: ['src/collector/main.ts'],
  console: ['src/console/main.ts'],
  serve: ['src/cli/main.ts', 'serve', '--no-migrate'],
}

interface Outcome {
  code: number | null
  stdout: string
  stderr: string
  environment: Record<string, string>
}

/** Runs a process that should exit by itself. After 20 s it counts as hung and is killed. */
async function start(main: keyof typeof mains, changes: Record<string, string>): Promise<Outcome> {
  const ports = [
    'PORT',
    'METRICS_PORT',
    'CONSOLE_PORT',
    'CONSOLE_METRICS_PORT',
    'COLLECTOR_PORT',
    'COLLECTOR_METRICS_PORT',
  ]
  const environment = {
    ...inherited,
    DATABASE_URL: addresses.postgres,
    CLICKHOUSE_URL: addresses.clickhouse,
    KEY_SECRETS: keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(','),
    SPOOL_FOLDER: mkdtempSync(join(tmpdir(), 'footfall-spool-')),
    ...Object.fromEntries(await Promise.all(ports.map(async (name) => [name, `${await freePort()}`]))),
    ...changes,
  }
  const root = new URL('../../', import.meta.url).pathname
  const [file, ...words] = mains[main] as [string, ...string[]]
  return new Promise((resolve) => {
    const options = { env: environment, timeout: 20_000, killSignal: 'SIGKILL' as const }
    execFile(process.execPath, [join(root, file), ...words], options, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : null) : 0
      resolve({ code, stdout, stderr, environment })
    })
  })
}

function refused({ code, stderr, stdout }: Outcome, message: RegExp, hint: RegExp): void {
  assert.equal(code, 1, `exit code ${code}, null if it had to be killed: ${stdout} ${stderr}`)
  const [said = '', advice = '', ...rest] = stderr.split('\n')
  assert.match(said, message)
  assert.match(advice, hint)
  assert.deepEqual(rest, [''], 'one sentence and what to do next, no stack trace')
}

for (const [main, setting] of [
  ['api', 'PORT'],
  ['api', 'METRICS_PORT'],
  ['collector', 'COLLECTOR_PORT'],
  ['collector', 'COLLECTOR_METRICS_PORT'],
  ['console', 'CONSOLE_PORT'],
  ['console', 'CONSOLE_METRICS_PORT'],
  ['serve', 'PORT'],
  ['serve', 'METRICS_PORT'],
  ['serve', 'COLLECTOR_METRICS_PORT'],
] as const) {
  test(`${main}: a ${setting} that is in use is reported with the setting`, async () => {
    const outcome = await start(main, { [setting]: takenPort })
    refused(
      outcome,
      new RegExp(`^footfall: Port ${takenPort} on 127.0.0.1 is in use\\.$`),
      new RegExp(`^ {2}.*set ${setting} to`),
    )
    // The shipper is a separate process and could keep running.
    const left = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    assert.ok(!left.includes(outcome.environment.SPOOL_FOLDER as string))
  })
}

test('several API processes on a port in use report it once and do not retry for ever', async () => {
  const outcome = await start('api', { PORT: takenPort, API_PROCESSES: '2', REDIS_URL: addresses.redis })
  refused(outcome, /^footfall: Port \d+ on 127\.0\.0\.1 is in use\.$/, /set PORT to/)
})

test('an address of another machine is reported with its setting', async () => {
  refused(await start('api', { HOST: '192.0.2.1' }), /^footfall: The process cannot listen on 192\.0\.2\.1/, /Set HOST/)
})

test('a spool folder that is in use, cannot be created or is not writable is reported with its setting', async () => {
  const collector = await startCollectorProcess(addresses)
  try {
    const { spoolFolder: SPOOL_FOLDER } = collector
    refused(
      await start('serve', { SPOOL_FOLDER }),
      /^footfall: Another collector uses the spool folder /,
      /SPOOL_FOLDER/,
    )
  } finally {
    await collector.stop()
  }
  refused(
    await start('serve', { SPOOL_FOLDER: '/etc/passwd/spool' }),
    /^footfall: The spool folder \/etc\/passwd\/spool/,
    /SPOOL_FOLDER/,
  )
  refused(await start('collector', { SPOOL_FOLDER: '/proc' }), /^footfall: The spool folder \/proc /, /SPOOL_FOLDER/)
})

test('an invalid country file is reported with its setting', async () => {
  const COUNTRY_FILE = new URL('../../package.json', import.meta.url).pathname
  refused(await start('collector', { COUNTRY_FILE }), /^footfall: The country file .*package\.json/, /COUNTRY_FILE/)
})
