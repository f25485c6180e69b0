// What an attacker can make of the public collector, on a real collector, shipper, ClickHouse and folding: unique events from one
// address, the same from very many, and slow senders. Each with the bound it must keep.
//   npm run check:flood -- --events 160000 --sockets 4300
import { install } from '../collect/installation.ts'
import { runCheck } from '../fuzz/runner.ts'
import { honestVisitor, underSlowSenders } from '../slowloris/collector.ts'
import { floodFromManyAddresses } from './many-addresses.ts'
import { floodFromOneAddress } from './one-address.ts'

await runCheck(
  { name: 'flood', size: { option: 'events', default: 160_000 }, seconds: (events) => 180 + events / 200 },
  async (check, { sockets = '4300' }) => {
    const installation = await install(check)
    // With the limits that operators have who set nothing: only 127.0.0.1 and ::1 are proxies, all else are visitors.
    const environment = Object.fromEntries(
      ['EVENTS_PER_SECOND_PER_ADDRESS', 'EVENTS_PER_SECOND_PER_SITE', 'CONNECTIONS_PER_ADDRESS'].map((name) => [
        name,
        '',
      ]),
    )
    const collector = await installation.startCollector({ environment })
    const oneAddress = await floodFromOneAddress(check, installation)
    const visitor = honestVisitor(Number(new URL(collector.url).port), (await installation.newSite()).domain)
    const slow = { name: 'one address', from: ['127.0.0.2'], sockets: Number(sockets) }
    const slowSenders = await underSlowSenders(check, visitor, slow)
    visitor.judge(check)
    return { oneAddress, slowSenders, manyAddresses: await floodFromManyAddresses(check, installation) }
  },
  { sockets: { type: 'string' } },
)
