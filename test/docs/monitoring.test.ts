// What docs/operations.md says about metrics, the alerts of deploy/prometheus and the dashboard for operators, against what `footfall serve`
// exposes and what promtool makes of it.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openCluster } from '../../src/cluster/cluster.ts'
import { variables } from '../../src/config.ts'
import { code, rowFaults, tableRows } from '../house/documents.ts'
import { read, root } from '../house/tree.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { launchServe } from '../support/serve-process.ts'

const page = read('docs/operations.md')
const alerts = read('deploy/prometheus/alerts.yaml')
const dashboard = JSON.parse(read('docs/grafana/operators.json'))
const queries: string[] = dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
  targets.map(({ expr }) => expr),
)
const skip = spawnSync('promtool', ['--version']).error ? 'promtool is missing: install the package prometheus' : false

/** The text of /metrics, by the setting of its port. */
const exposed: Record<string, string> = {}
before(async () => {
  const ends: (() => unknown)[] = []
  const folder = mkdtempSync(join(tmpdir(), 'footfall-monitoring-'))
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  try {
    const { addresses } = await freshStores((end) => ends.push(end))
    const { postgres, clickhouse } = addresses
    const server = await launchServe({ postgres, clickhouse }, { BACKUP_FOLDER: folder, DRAIN_SECONDS: '0' })
    ends.push(() => server.stop())
    await server.untilReady()
    exposed.METRICS_PORT = await (await fetch(server.metricsUrl)).text()
    exposed.COLLECTOR_METRICS_PORT = await (await fetch(server.collectorMetricsUrl)).text()
  } finally {
    for (const end of ends.reverse()) await end()
  }
})

/** Each of our metrics with its help, and the ports that show it. */
function metrics(): Map<string, { help: string; ports: string[] }> {
  const found = new Map<string, { help: string; ports: string[] }>()
  for (const [port, text] of Object.entries(exposed)) {
    for (const [, name = '', help = ''] of text.matchAll(/^# HELP (footfall_\w+) (.*)$/gm)) {
      const known = found.get(name)
      if (known) assert.equal(help, known.help, `${name} means the same at both ports`)
      found.set(name, { help, ports: [...(known?.ports ?? []), port] })
    }
  }
  return found
}

/** The metrics that an expression names, without the endings of a histogram. */
const named = (text: string): string[] =>
  [...text.matchAll(/\b(?:footfall|process|nodejs)_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, ''))

const isExposed = (name: string): boolean => Object.values(exposed).some((text) => text.includes(`# HELP ${name} `))

test('docs/operations.md lists every metric with its port and meaning, and no others', () => {
  const real = [...metrics()].map(([name, { help, ports }]) => [code(name), ports.map(code).join(', '), help])
  assert.ok(real.length > 20)
  assert.deepEqual(rowFaults(tableRows(page, 'Metric', 'Port', 'Meaning'), real), [])
  assert.deepEqual(
    named(page).filter((name) => /_(total|seconds|bytes|ratio|up|info)$/.test(name) && !isExposed(name)),
    [],
  )
})

test('every metric of an alert and of the dashboard exists, with the values of its labels', () => {
  assert.ok(queries.length > 12)
  assert.deepEqual(
    named([alerts, ...queries].join('\n')).filter((name) => !isExposed(name)),
    [],
  )
  const all = Object.values(exposed).join('\n')
  assert.match(exposed.METRICS_PORT ?? '', /^footfall_disk_free_ratio\{disk="ClickHouse shard 1"\} (0\.\d+|1)$/m)
  assert.match(exposed.COLLECTOR_METRICS_PORT ?? '', /^footfall_disk_free_ratio\{disk="spool"\} 0\.\d+$/m)
  // A reason that is called otherwise would never fire.
  for (const [, label, values = ''] of alerts.matchAll(/(reason)=~"([^"]+)"/g))
    for (const value of values.split('|')) assert.ok(all.includes(`${label}="${value}"`), value)
  for (const [, label = ''] of [alerts, ...queries].join('\n').matchAll(/by \((?:le, )?(\w+)\)/g))
    assert.ok(label === 'instance' || all.includes(`{${label}=`) || all.includes(`,${label}=`), label)
})

test('the alerts tell replicas from other dependencies by the names that they have', async () => {
  const named: string[] = []
  const shards = ['http://127.0.0.1:1/a', 'http://127.0.0.1:2/a', 'http://127.0.0.1:3/a']
  const [one, two, three] = shards as [string, string, string]
  for (const CLICKHOUSE_SHARDS of [[[one, two]], [[one, two], [three]]]) {
    const watch = (name: string) => {
      named.push(name)
      return () => {}
    }
    await openCluster({ CLICKHOUSE_URL: one, CLICKHOUSE_SHARDS }, { watch }).close()
  }
  const patterns = [...alerts.matchAll(/footfall_dependency_up\{dependency(!~|=~)"([^"]+)"\}/g)]
  assert.deepEqual(
    patterns.map(([, operator]) => operator),
    ['!~', '=~'],
  )
  for (const [, , pattern] of patterns)
    assert.deepEqual(
      named.filter((name) => new RegExp(`^(?:${pattern})$`).test(name)),
      ['ClickHouse replica 1', 'ClickHouse replica 2', 'ClickHouse shard 1 replica 1', 'ClickHouse shard 1 replica 2'],
    )
})

test('each alert fires on a series that shows its fault, and stays silent on a healthy one', { skip }, () => {
  const cwd = fileURLToPath(new URL('deploy/prometheus/', root))
  execFileSync('promtool', ['check', 'rules', '--lint-fatal', 'alerts.yaml'], { cwd })
  execFileSync('promtool', ['test', 'rules', 'alerts-test.yaml'], { cwd })
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  const tests = [...read('deploy/prometheus/alerts-test.yaml').matchAll(/- name: (.*)/g)].map(([, name]) => name)
  assert.ok(names.length >= 8)
  assert.deepEqual(
    [...new Set(tests)].sort(),
    names.flatMap((name) => [`${name} fires`, `${name} stays silent`]).sort(),
  )
})

test('the documented scrape settings are those of Prometheus, with the ports of src/config.ts', { skip }, (t) => {
  const [, example = ''] = /```yaml prometheus\n([\s\S]*?)```/.exec(page) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'footfall-prometheus-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(new URL('deploy/prometheus/alerts.yaml', root), join(folder, 'alerts.yaml'))
  writeFileSync(join(folder, 'prometheus.yml'), example.replace(/\S*alerts\.yaml/, 'alerts.yaml'))
  execFileSync('promtool', ['check', 'config', 'prometheus.yml'], { cwd: folder })
  assert.deepEqual(
    [...example.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => port),
    [variables.METRICS_PORT.default, variables.COLLECTOR_METRICS_PORT.default],
  )
  assert.match(example, /job_name: footfall\n/) // the alert that a process is down asks for it
})

test('the dashboard for operators can be imported, and Prometheus can read each of its queries', { skip }, (t) => {
  const chosen = { type: 'prometheus', uid: '${' + 'DS_PROMETHEUS}' }
  assert.deepEqual(
    dashboard.__inputs.map(({ name, pluginId }: Record<string, string>) => [name, pluginId]),
    [['DS_PROMETHEUS', 'prometheus']],
  )
  const ids = dashboard.panels.map(({ id }: { id: number }) => id)
  assert.equal(new Set(ids).size, ids.length)
  const cells: string[] = []
  for (const { datasource, targets, gridPos, type } of dashboard.panels) {
    for (const one of [{ datasource }, ...targets]) assert.deepEqual(one.datasource, chosen)
    assert.ok(dashboard.__requires.some((required: { id: string }) => required.id === type))
    const { x, y, w, h } = gridPos
    for (let cell = 0; cell < w * h; cell++) cells.push(`${x + (cell % w)} ${y + Math.floor(cell / w)}`)
  }
  assert.equal(new Set(cells).size, cells.length, 'no panel covers another')
  assert.equal(cells.length % 24, 0, 'the panels fill the 24 columns')
  const folder = mkdtempSync(join(tmpdir(), 'footfall-dashboard-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const rules = queries.map((expr, index) => ({
    record: `query_${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }))
  writeFileSync(join(folder, 'rules.json'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  execFileSync('promtool', ['check', 'rules', 'rules.json'], { cwd: folder })
})
