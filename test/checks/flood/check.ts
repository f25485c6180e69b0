// Attacks on the public collector, with a real collector, shipper, ClickHouse and rollup: unique events from one address, the same from
// very many addresses, events full of unique properties, and slow senders. Each attack has a limit to its effect.
//   npm run check:flood -- --events 160000 --sockets 4300
//   npm run check:flood -- --processes apart    the collector as a process of its own instead of `footfall serve`
import { install } from '../collect/installation.ts'
import { runCheck } from '../runner.ts'
import { honestVisitor, underSlowSenders } from '../slowloris/collector.ts'
import { floodFromManyAddresses } from './many-addresses.ts'
import { floodFromOneAddress } from './one-address.ts'
import { floodOfProperties } from './properties.ts'

await runCheck(
  {
    name: 'flood',
    options: { events: 160_000, sockets: 4_300, processes: 'one' },
    seconds: ({ events }) => 180 + events / 150,
  },
  async (check, { events, sockets, processes }) => {
    const installation = await install(check)
    // With the default limits: only 127.0.0.1 and ::1 are proxies, and all other addresses are visitors.
    const environment = Object.fromEntries(
      ['EVENTS_PER_SECOND_PER_ADDRESS', 'EVENTS_PER_SECOND_PER_SITE', 'CONNECTIONS_PER_ADDRESS'].map((name) => [
        name,
        '',
      ]),
    )
    const collector = await installation.startCollector({ environment, serve: processes === 'one' })
    const oneAddress = await floodFromOneAddress(check, installation, events)
    const visitor = honestVisitor(Number(new URL(collector.url).port), (await installation.newSite()).domain)
    const slow = { name: 'one address', from: ['127.0.0.2'], sockets }
    const slowSenders = await underSlowSenders(check, visitor, slow)
    visitor.judge(check)
    // Each has 30 properties.
    const properties = await floodOfProperties(check, installation, Math.ceil(events / 15))
    return {
      oneAddress,
      slowSenders,
      properties,
      manyAddresses: await floodFromManyAddresses(check, installation, events),
    }
  },
)
