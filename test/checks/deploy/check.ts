// Two `footfall serve` behind a load balancer that follows /readyz are restarted in turn, as a deployment does, under load: no request
// fails, and every acknowledged event is counted once.
//   npm run check:deploy -- --restarts 100
//   npm run check:deploy -- --restarts 4      the short form
//   npm run check:deploy -- --restarts 4 --from <commit>      an upgrade: the first two run the code of that commit
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../dev/clickhouse/server.ts'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { eventually } from '../../support/eventually.ts'
import { keySecretsSetting, launchServe, type ServeProcess } from '../../support/serve-process.ts'
import { createEmptyStores, keySecrets } from '../../support/stores.ts'
import { startLoad } from '../collect/load.ts'
import { startPaced } from '../paced.ts'
import { type Check, quantile, runCheck } from '../runner.ts'
import { compareEvents, noEvents } from '../stored-events.ts'
import { answerOf } from './answer.ts'
import { checkOut, footfall, mainIn } from './earlier-version.ts'
import { startLoadBalancer } from './load-balancer.ts'

const requestsPerSecond = 40
const pagesPerSecond = 5
const eventLanes = 4
const pauseOfLaneMs = 100
/** Each may ask 5,000 times per hour. */
const keyCount = 40

await runCheck(
  { name: 'deploy', options: { restarts: 100, from: '' }, seconds: ({ restarts }) => 180 + 15 * restarts },
  async (check, { restarts, from }) => {
    const earlier = from === '' ? undefined : checkOut(check, from)
    const { stores, remove } = await createEmptyStores()
    check.onEnd(remove)
    const { postgres, clickhouse, addresses } = stores
    const environment = {
      DATABASE_URL: addresses.postgres,
      CLICKHOUSE_URL: addresses.clickhouse,
      KEY_SECRETS: keySecretsSetting,
    }
    await footfall(['migrate'], environment, earlier)
    const accountId = await createAccount(postgres, { name: 'Deployed', plan: 'Agency' })
    const domain = 'deploy.example'
    const siteId = await createSite(postgres, { accountId, domain })
    const keys = await Promise.all(
      Array.from({ length: keyCount }, () => createKey(postgres, keySecrets, { accountId, siteId, name: 'Deployed' })),
    )

    // Days that no event of the load is about, so that every answer about them is the same.
    const history = writeHistory(check)
    await footfall(['import', domain, history.path], environment, earlier)
    await footfall(['rollup', 'run', '--site', domain], environment, earlier)

    // A busy machine must not look like a failed deployment, so deadlines are longer than usual.
    const settings = { FOOTFALL_DEADLINE_FACTOR: '20', LOG_LEVEL: 'warn' }
    const ports = [await freePort(), await freePort()]
    const launch = (port: number, spool?: string, folder?: string): Promise<ServeProcess> =>
      launchServe(addresses, { ...settings, PORT: `${port}`, ...(spool && { SPOOL_FOLDER: spool }) }, mainIn(folder))
    const processes: ServeProcess[] = []
    check.onEnd(() => Promise.all(processes.map((one) => one.stop())))
    for (const port of ports) processes.push(await launch(port, undefined, earlier))
    await Promise.all(processes.map((one) => one.untilReady()))
    const balancer = await startLoadBalancer(ports)
    check.onEnd(balancer.close)

    const agent = new Agent({ keepAlive: true })
    check.onEnd(() => agent.destroy())
    const times: number[] = []
    let asked = 0
    async function ask(path: string, headers: Record<string, string> = {}): Promise<void> {
      const began = performance.now()
      const { status, body } = await answerOf(balancer.url + path, agent, headers)
      times.push(performance.now() - began)
      asked++
      if (status !== 200) check.fault('failed request', `${path}: ${status} ${body.slice(0, 200)}`)
      else if (path === history.question && !body.includes(history.answer))
        check.fault('another answer', `${body.slice(0, 300)} instead of ${history.answer}`)
    }
    const load = startLoad({ url: balancer.url, domain, lanes: eventLanes, pauseMs: pauseOfLaneMs })
    const running = [
      startPaced(requestsPerSecond, (index) =>
        ask(index % 2 === 0 ? '/api/v1/stats/overview?range=7d' : history.question, {
          Authorization: `Bearer ${keys[index % keyCount]?.text}`,
        }),
      ),
      startPaced(pagesPerSecond, () => ask('/login')),
    ]

    // As docs/operations.md says: migrations first, then one process after the other.
    if (earlier) await footfall(['migrate'], environment)
    for (let nth = 0; nth < restarts; nth++) {
      // Each version rolls up what the other has. A server may be rolling up right now.
      const version = nth === 0 ? earlier : undefined
      await eventually(() => footfall(['rollup', 'run', '--site', domain], environment, version), 60_000)
      const index = nth % processes.length
      const [one, port] = [processes[index] as ServeProcess, ports[index] as number]
      const code = await one.stop()
      if (code !== 0) check.fault('exit code', `${code}\n${one.log()}`)
      processes[index] = await launch(port, one.spoolFolder)
      await eventually(async () => {
        if (!balancer.isReady(port)) throw new Error('not ready')
      }, 60_000)
      if ((nth + 1) % 10 === 0) check.say(`${nth + 1} restarts, ${asked} requests, ${times.length} answered`)
    }
    await Promise.all(running.map((one) => one.stop()))
    const ledger = await load.stop()
    if (ledger.refused + ledger.broken > 0)
      check.fault('failed event', `${ledger.refused} were refused and ${ledger.broken} got no response`)
    for (const answer of ledger.odd.slice(0, 3)) check.fault('failed event', answer)

    const events = noEvents()
    await compareEvents(check, { id: siteId, domain, shard: 1, load }, clickhouse, [], events)
    return {
      requests: asked,
      events,
      milliseconds: { median: Math.round(quantile(times, 0.5)), worst: Math.round(Math.max(...times)) },
    }
  },
)

/** Views on ten days of last year, as a file to import, and what an answer about them says. */
function writeHistory(check: Check) {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-history-'))
  check.onEnd(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'history.csv')
  const lines = Array.from({ length: 1_000 }, (_, index) => {
    const time = new Date(Date.UTC(2025, 5, 1 + Math.floor(index / 100), 10, 0, index % 60) + index).toISOString()
    return `${time},https://deploy.example/,v${index}`
  })
  writeFileSync(path, `time,url,visitor\n${lines.toSorted().join('\n')}\n`)
  return {
    path,
    question: '/api/v1/stats/overview?range=custom&start=2025-05-20&end=2025-06-20',
    answer: '"current":{"visitors":1000,"pageviews":1000,"sessions":1000',
  }
}
