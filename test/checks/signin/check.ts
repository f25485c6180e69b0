// Sign-ins at full speed beside the API and the collector, all in one `footfall serve`: 40 people from 40 addresses sign in again and
// again. Phases with and without sign-ins alternate, so that a busy neighbour of this machine disturbs both alike. Every request of the API
// and every event is sent at its time, whether or not the one before was answered; the time counts from then.
// Then 200 networks of one /48 try passwords, and somebody signs in with a browser that is known.
//   npm run check:signin -- --rounds 8 --attack 60
//   npm run check:signin -- --rounds 1 --most 5 --attack 5     the short form, with a bound that a busy machine keeps
import { machineTime, round, since } from '../../../bench/api/measure.ts'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { addMember } from '../../../src/users/members.ts'
import { createPasswords } from '../../../src/users/passwords.ts'
import { createUser } from '../../../src/users/users.ts'
import { launchServe } from '../../support/serve-process.ts'
import { connect, createStores, disconnect, keySecrets } from '../../support/stores.ts'
import { underAttack } from '../attack.ts'
import { pause, quantile, runCheck } from '../runner.ts'

const people = 40
const phaseMs = 4_000
const perSecond = { api: 20, collector: 40 } as const
const password = 'correct horse battery staple'

type Traffic = keyof typeof perSecond
type Times = Record<Traffic, number[]>

await runCheck(
  {
    name: 'signin',
    // Times of a phase with sign-ins are at most this many times those without. `attack`: how many seconds the attack lasts.
    options: { rounds: 8, most: 1.5, attack: 60, 'attack-most': 3 },
    seconds: ({ rounds, attack }) => 240 + (rounds * 2.5 * phaseMs) / 1000 + 2 * attack,
  },
  async (check, { rounds, most, attack, 'attack-most': attackMost }) => {
    const created = await createStores()
    check.onEnd(created.remove)
    const stores = connect(created.addresses)
    check.onEnd(() => disconnect(stores))
    const { postgres } = stores
    const accountId = await createAccount(postgres, { name: 'Sign-ins', plan: 'Agency' })
    const domain = 'signin.example'
    const siteId = await createSite(postgres, { accountId, domain })
    const key = await createKey(postgres, keySecrets, { accountId, siteId, name: 'Sign-ins' })
    const passwordHash = await createPasswords().hash(password)
    const emails: string[] = []
    for (let index = 0; index < people; index++) {
      const email = `person${index}@example.com`
      await addMember(postgres, accountId, await createUser(postgres, email, passwordHash), 'viewer')
      emails.push(email)
    }
    const { clickhouse, postgres: postgresUrl } = created.addresses
    const server = await launchServe({ clickhouse, postgres: postgresUrl })
    check.onEnd(server.stop)
    await server.untilReady()
    const publicUrl = `http://localhost:${server.environment.PORT}`

    const senders: Record<Traffic, (index: number) => Promise<Response>> = {
      // A different source each time, so that no answer comes from the cache.
      api: (index) =>
        fetch(`${server.url}/api/v1/stats/overview?range=7d&utm_source=source${index}`, {
          headers: { Authorization: `Bearer ${key.text}` },
        }),
      collector: (index) =>
        fetch(`${server.url}/api/event`, {
          method: 'POST',
          body: JSON.stringify({ n: 'pageview', u: `https://${domain}/page${index % 50}`, d: domain }),
          headers: {
            'Content-Type': 'text/plain',
            'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
            'X-Forwarded-For': `198.51.${index % 100}.${index % 250}`,
          },
        }),
    }
    const expected = { api: 200, collector: 202 } as const
    let sent = 0

    async function send(traffic: Traffic, times: Times): Promise<void> {
      const began = performance.now()
      const response = await senders[traffic](sent++)
      await response.arrayBuffer()
      times[traffic].push(performance.now() - began)
      // The API gives up on a query that takes too long, and the collector on a disk that does: a busy machine does that.
      if (response.status !== expected[traffic]) check.slow(`${traffic} answered ${response.status}`)
    }

    /** Sends both kinds of traffic for one phase, at their times. */
    async function phase(times: Times): Promise<void> {
      const began = performance.now()
      const running: Promise<void>[] = []
      for (const traffic of Object.keys(perSecond) as Traffic[]) {
        running.push(
          (async () => {
            const all: Promise<void>[] = []
            for (let index = 0; index < (perSecond[traffic] * phaseMs) / 1000; index++) {
              await pause(Math.max(0, began + (index * 1000) / perSecond[traffic] - performance.now()))
              all.push(send(traffic, times))
            }
            await Promise.all(all)
          })(),
        )
      }
      await Promise.all(running)
    }

    /** Fetches the form and returns what sends it. */
    async function openForm(address: string) {
      const page = await fetch(`${server.url}/login`, { headers: { 'X-Forwarded-For': address } })
      const [, token = ''] = /name="token" value="([^"]*)"/.exec(await page.text()) ?? []
      const [form = ''] = page.headers.getSetCookie()
      return async (email: string, typed: string, browser = '', from = address) => {
        const response = await fetch(`${server.url}/login`, {
          method: 'POST',
          redirect: 'manual',
          body: new URLSearchParams({ token, email, password: typed }).toString(),
          headers: {
            'Content-Type': 'application/x-www-form-urlencoded',
            Origin: publicUrl,
            Cookie: [form.split(';')[0], browser].filter(Boolean).join('; '),
            'X-Forwarded-For': from,
          },
        })
        await response.arrayBuffer()
        return response
      }
    }

    const signIns = { done: 0, busy: 0 }
    let isSigningIn = false
    /** Signs in for as long as it may, one sign-in after the other. */
    async function person(index: number): Promise<void> {
      const send = await openForm(`203.0.113.${index + 1}`)
      while (isSigningIn) {
        const { status } = await send(emails[index] as string, password)
        if (status === 303) signIns.done++
        else if (status === 503) signIns.busy++
        else check.fault(`a sign-in was answered with ${status}`)
        if (status === 503) await pause(100)
      }
    }

    const quiet: Times = { api: [], collector: [] }
    const busy: Times = { api: [], collector: [] }
    await phase({ api: [], collector: [] }) // to warm up
    const machine = machineTime()
    let busyMs = 0
    for (let index = 0; index < rounds; index++) {
      await phase(quiet)
      isSigningIn = true
      const began = performance.now()
      const all = Promise.all(emails.map((_, one) => person(one)))
      await pause(300) // until all have the form
      await phase(busy)
      isSigningIn = false
      await all
      busyMs += performance.now() - began
      await pause(200)
    }
    const { steal, busy: load } = since(machine)
    const result: Record<string, unknown> = {}
    for (const traffic of Object.keys(perSecond) as Traffic[]) {
      for (const [name, share] of [
        ['median', 0.5],
        ['p90', 0.9],
      ] as const) {
        const [without, beside] = [quantile(quiet[traffic], share), quantile(busy[traffic], share)]
        const ratio = beside / without
        result[`${traffic} ${name}`] = { without: round(without, 2), beside: round(beside, 2), ratio: round(ratio, 2) }
        if (!(ratio <= most)) check.slow(`${traffic} ${name}`, `${round(ratio, 2)} times the time without sign-ins`)
      }
    }
    const signInsPerSecond = round(signIns.done / (busyMs / 1000), 1)
    if (signIns.done < people) check.fault('too few sign-ins', `${signIns.done}`)

    const [email] = emails as [string]
    const [own, attacker] = [await openForm('192.0.2.1'), await openForm('2001:db8:1::1')]
    const cookies = (await own(email, password)).headers.getSetCookie()
    const browser = cookies.find((cookie) => cookie.startsWith('footfall-browser='))?.split(';')[0]
    if (!browser) check.fault('no cookie of a known browser')
    const attacked = await underAttack(check, {
      seconds: attack,
      most: attackMost,
      attack: (address, index) => attacker(`nobody${index}@example.com`, 'a wrong password', '', address),
      users: { 'a known browser': async () => (await own(email, password, browser)).status },
      expected: 303,
    })
    return { ...result, signIns, signInsPerSecond, ...attacked, steal, busyShare: load }
  },
)
