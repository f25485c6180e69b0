// A shared link that is opened 500 times per second from 200 addresses, beside the API, all in one `footfall serve`. Each request asks for
// other numbers, so that no answer comes from the cache. Phases with and without alternate, so that a busy neighbour of this machine disturbs
// both alike. Every request is sent at its time, whether or not the one before was answered.
// Then strangers from 200 networks of one /48 ask for links that they have made up, and links of today and of older versions stay open.
//   npm run check:share -- --rounds 8 --attack 60
//   npm run check:share -- --rounds 1 --most 5 --attack 5     the short form, with a bound that a busy machine keeps
import { hash, randomBytes } from 'node:crypto'
import { Agent, get } from 'node:http'
import { machineTime, round, since } from '../../../bench/api/measure.ts'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite, findSite, type Site } from '../../../src/accounts/sites.ts'
import { generateDemo } from '../../../src/demo/generate.ts'
import { addSharedLink, sharedLinkPath } from '../../../src/users/shared-links.ts'
import { launchServe } from '../../support/serve-process.ts'
import { connect, createStores, disconnect, keySecrets } from '../../support/stores.ts'
import { underAttack } from '../attack.ts'
import { paced } from '../paced.ts'
import { pause, quantile, runCheck } from '../runner.ts'

const phaseMs = 4_000
const apiPerSecond = 20
const linkPerSecond = 500
const addresses = 200
const events = 50_000

await runCheck(
  {
    name: 'share',
    // The median of a phase with the link is at most this many times the one without. `attack`: how many seconds the attack lasts.
    options: { rounds: 8, most: 1.5, attack: 60, 'attack-most': 3 },
    seconds: ({ rounds, attack }) => 240 + (rounds * 3 * phaseMs) / 1000 + 2 * attack,
  },
  async (check, { rounds, most, attack, 'attack-most': attackMost }) => {
    const created = await createStores()
    check.onEnd(created.remove)
    const stores = connect(created.addresses)
    check.onEnd(() => disconnect(stores))
    const { postgres, clickhouse } = stores
    const accountId = await createAccount(postgres, { name: 'Shared', plan: 'Agency' })
    const domain = 'share.example'
    const siteId = await createSite(postgres, { accountId, domain })
    await generateDemo({ clickhouse, siteId, domain, zone: 'UTC', events, seed: 1, until: Date.now() })
    const key = await createKey(postgres, keySecrets, { accountId, siteId, name: 'Shared' })
    const site = (await findSite(postgres, siteId)) as Site
    const share = async (name: string) =>
      (await addSharedLink(postgres, keySecrets, { actor: 'check@example.com' }, site, {
        ...{ name, expiresAt: null, passwordHash: null, isEmbeddable: false, filters: [] },
        nonce: `${check.seed} ${name}`,
      })) as string
    const token = await share('Public')
    // As links were before their tokens had a checksum.
    const older = randomBytes(32).toString('base64url')
    await postgres`
      UPDATE shared_links SET hash = ${hash('sha256', older, 'buffer')}, secret_version = NULL
      WHERE hash = ${hash('sha256', await share('Older'), 'buffer')}`
    const { clickhouse: clickhouseUrl, postgres: postgresUrl } = created.addresses
    const server = await launchServe({ clickhouse: clickhouseUrl, postgres: postgresUrl })
    check.onEnd(server.stop)
    await server.untilReady()

    const agents = { api: new Agent({ keepAlive: true }), link: new Agent({ keepAlive: true, maxSockets: 200 }) }
    check.onEnd(() => Object.values(agents).forEach((agent) => void agent.destroy()))
    const ask = (path: string, agent: Agent, headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const sent = get(server.url + path, { agent, headers }, (response) => {
          response.resume()
          response.on('end', () => resolve(response.statusCode ?? 0))
          response.on('error', reject)
        })
        sent.on('error', reject)
      })

    let sent = 0
    const phase = (times: number[]) =>
      paced(apiPerSecond, phaseMs, async () => {
        const began = performance.now()
        const path = `/api/v1/stats/overview?range=30d&utm_source=api${sent++}`
        const status = await ask(path, agents.api, { Authorization: `Bearer ${key.text}` })
        times.push(performance.now() - began)
        // The API gives up on a query that takes too long: a busy machine does that.
        if (status !== 200) check.slow(`the API answered ${status}`)
      })

    const answers: Record<number, number> = {}
    const opened = () =>
      paced(linkPerSecond, phaseMs, async () => {
        const index = sent++
        const address = `203.0.113.${1 + (index % addresses)}`
        const path = `${sharedLinkPath(token)}?utm_source=link${index}`
        const status = await ask(path, agents.link, { 'X-Forwarded-For': address }).catch(() => 0)
        answers[status] = (answers[status] ?? 0) + 1
      })

    const [quiet, busy]: [number[], number[]] = [[], []]
    await phase([]) // to warm up
    const machine = machineTime()
    for (let index = 0; index < rounds; index++) {
      await phase(quiet)
      await Promise.all([opened(), phase(busy)])
      await pause(500)
    }
    const { steal, busy: load } = since(machine)
    const result: Record<string, unknown> = {}
    for (const [name, share] of [
      ['median', 0.5],
      ['p90', 0.9],
    ] as const) {
      const [without, beside] = [quantile(quiet, share), quantile(busy, share)]
      const ratio = beside / without
      result[name] = { without: round(without, 2), beside: round(beside, 2), ratio: round(ratio, 2) }
      if (name === 'median' && !(ratio <= most))
        check.slow('the API beside a shared link', `${round(ratio, 2)} times the time without`)
    }
    const { 200: shown = 0, 429: refused = 0, ...others } = answers
    if (shown === 0 || refused === 0) check.fault('the link', `was shown ${shown} times and refused ${refused} times`)
    if (Object.keys(others).length > 0) check.fault('other answers of the link', JSON.stringify(others))

    await pause(25_000) // until the limits of the link are as before
    const open = (opened: string, address: string) => () =>
      ask(`${sharedLinkPath(opened)}?utm_source=open${sent++}`, agents.link, { 'X-Forwarded-For': address })
    const attacked = await underAttack(check, {
      seconds: attack,
      most: attackMost,
      // Of the form of today and of older ones.
      attack: (address, index) =>
        ask(sharedLinkPath(randomBytes(index % 2 ? 32 : 38).toString('base64url')), agents.link, {
          'X-Forwarded-For': address,
        }),
      users: { 'a link': open(token, '192.0.2.1'), 'an older link': open(older, '192.0.2.2') },
      expected: 200,
    })
    return { ...result, shown, refused, ...attacked, steal, busyShare: load }
  },
)
