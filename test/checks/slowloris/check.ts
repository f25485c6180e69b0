// Opens thousands of connections to the API and the collector that send a byte at a time, half a line, nothing, or an endless body. They
// must be closed in time, all their resources must be freed, and honest requests must not be affected.
//   npm run check:slowloris -- --sockets 5000
//   npm run check:slowloris -- --rounds 1     the short form: one attack on the API instead of two
//   npm run check:slowloris -- --processes apart    API and collector as processes of their own instead of `footfall serve`
import { connect, createStores, disconnect } from '../../support/stores.ts'
import { runCheck } from '../runner.ts'
import { attackApi } from './api.ts'
import { attackCollector } from './collector.ts'

await runCheck(
  {
    name: 'slowloris',
    options: { sockets: 500, rounds: 2, processes: 'one' },
    seconds: ({ sockets }) => 180 + sockets / 25,
  },
  async (check, { sockets, rounds, processes }) => {
    const stores = await createStores()
    check.onEnd(stores.remove)
    const connected = connect(stores.addresses)
    check.onEnd(() => disconnect(connected))
    const serve = processes === 'one'
    const both = { postgres: connected.postgres, addresses: stores.addresses, serve, sockets }
    return { api: await attackApi(check, both, rounds), collector: await attackCollector(check, both) }
  },
)
