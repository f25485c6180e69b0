import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { variables } from '../../src/config.ts'
import { read, root } from './tree.ts'

const skip = spawnSync('docker-compose', ['--version']).status === 0 ? false : 'docker-compose is not installed.'

/** What Docker Compose makes of compose.yaml and these settings in .env: the lines of the service. */
function serviceWith(settings: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-compose-'))
  try {
    cpSync(new URL('compose.yaml', root), join(folder, 'compose.yaml'))
    writeFileSync(
      join(folder, '.env'),
      Object.entries(settings)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )
    const { PATH } = process.env
    const config = execFileSync('docker-compose', ['--file', 'compose.yaml', 'config'], {
      cwd: folder,
      env: { PATH },
      encoding: 'utf8',
    })
    return /^ {2}footfall:\n((?: {4}.*\n)+)/m.exec(config)?.[1] as string
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const environmentOf = (service: string): Record<string, string> =>
  Object.fromEntries(
    [...service.matchAll(/^ {6}([A-Z_]+): (.*)$/gm)].map(([, name, value]) => [
      name as string,
      (value as string).replace(/^'(.*)'$/, '$1'),
    ]),
  )

test('Docker Compose passes every setting of .env to Footfall, and publishes the ports that are set', { skip }, () => {
  const names = Object.keys(variables)
  const settings = Object.fromEntries(
    names.map((name, index) => [name, /PORT$/.test(name) ? `${20_000 + index}` : `value of ${name}`]),
  )
  const service = serviceWith(settings)
  const passed = environmentOf(service)
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, passed[name]])), settings)
  for (const name of ['PORT', 'METRICS_PORT', 'COLLECTOR_METRICS_PORT'])
    assert.ok(service.includes(`- 127.0.0.1:${settings[name]}:${settings[name]}/tcp`), name)
})

test('without settings, Compose has its own databases, the default ports, and volumes for spool and backups', {
  skip,
}, () => {
  const service = serviceWith({})
  const passed = environmentOf(service)
  assert.deepEqual(
    [passed.DATABASE_URL, passed.CLICKHOUSE_URL],
    ['postgres://footfall:footfall@postgres:5432/footfall', 'http://footfall:footfall@clickhouse:8123/footfall'],
  )
  for (const name of ['PORT', 'METRICS_PORT', 'COLLECTOR_METRICS_PORT'] as const)
    assert.ok(service.includes(`- 127.0.0.1:${variables[name].default}:${variables[name].default}/tcp`), name)
  // Volumes of Docker get the owner that the image gives the folder. A folder of the host that Docker makes belongs to root.
  assert.match(service, /^ {4}- backups:\/backups:rw$/m)
  assert.match(service, /^ {4}- spool:\/spool:rw$/m)
  assert.match(service, /^ {4}- uploads:\/uploads:rw$/m)
})

test('no port is that of a server beside Footfall: Prometheus listens on 9090', () => {
  const ports = Object.entries<{ description: string; default?: string }>(variables).filter(([name]) =>
    /PORT$/.test(name),
  )
  assert.deepEqual(
    ports.filter(([, { default: port }]) => port === '9090').map(([name]) => name),
    [],
  )
  assert.ok(!read('compose.yaml').includes('9090'))
})
