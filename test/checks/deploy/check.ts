// Two `footfall serve` behind a load balancer that follows /readyz are restarted in turn, as a deployment does, under load: no request
// fails, and every acknowledged event is counted once.
//   npm run check:deploy -- --restarts 100
//   npm run check:deploy -- --restarts 4      the short form
import { Agent } from 'node:http'
import { freePort } from '../../../dev/clickhouse/server.ts'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { eventually } from '../../support/eventually.ts'
import { launchServe, type ServeProcess } from '../../support/serve-process.ts'
import { connect, createStores, disconnect, keySecrets } from '../../support/stores.ts'
import { startLoad } from '../collect/load.ts'
import { startPaced } from '../paced.ts'
import { quantile, runCheck } from '../runner.ts'
import { compareEvents, noEvents } from '../stored-events.ts'
import { answerOf } from './answer.ts'
import { startLoadBalancer } from './load-balancer.ts'

const requestsPerSecond = 40
const pagesPerSecond = 5
const eventLanes = 4
const pauseOfLaneMs = 100
/** Each may ask 5,000 times per hour. */
const keyCount = 40

await runCheck(
  { name: 'deploy', options: { restarts: 100 }, seconds: ({ restarts }) => 120 + 15 * restarts },
  async (check, { restarts }) => {
    const created = await createStores()
    check.onEnd(created.remove)
    const stores = connect(created.addresses)
    check.onEnd(() => disconnect(stores))
    const { postgres, clickhouse } = stores
    const accountId = await createAccount(postgres, { name: 'Deployed', plan: 'Agency' })
    const domain = 'deploy.example'
    const siteId = await createSite(postgres, { accountId, domain })
    const keys = await Promise.all(
      Array.from({ length: keyCount }, () => createKey(postgres, keySecrets, { accountId, siteId, name: 'Deployed' })),
    )

    // A busy machine must not look like a failed deployment, so deadlines are longer than usual.
    const settings = { FOOTFALL_DEADLINE_FACTOR: '20', LOG_LEVEL: 'warn' }
    const ports = [await freePort(), await freePort()]
    const launch = (port: number, spool?: string): Promise<ServeProcess> =>
      launchServe(created.addresses, { ...settings, PORT: `${port}`, ...(spool && { SPOOL_FOLDER: spool }) })
    const processes: ServeProcess[] = []
    check.onEnd(() => Promise.all(processes.map((one) => one.stop())))
    for (const port of ports) processes.push(await launch(port))
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
    }
    const load = startLoad({ url: balancer.url, domain, lanes: eventLanes, pauseMs: pauseOfLaneMs })
    const running = [
      startPaced(requestsPerSecond, (index) =>
        ask('/api/v1/stats/overview?range=7d', { Authorization: `Bearer ${keys[index % keyCount]?.text}` }),
      ),
      startPaced(pagesPerSecond, () => ask('/login')),
    ]

    for (let nth = 0; nth < restarts; nth++) {
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
