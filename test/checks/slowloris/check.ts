// S3: thousands of connections that send a byte at a time, half a line, nothing, or a body that never ends, to the API and to the
// collector. Each must be closed in time, everything they held must be given back, and honest requests must not notice.
//   npm run check:slowloris -- --sockets 5000
import { connect, createStores, disconnect } from '../../support/stores.ts'
import { runCheck } from '../fuzz/runner.ts'
import { attackApi } from './api.ts'
import { attackCollector } from './collector.ts'

await runCheck(
  { name: 'slowloris', size: { option: 'sockets', default: 500 }, seconds: (sockets) => 180 + sockets / 25 },
  async (check) => {
    const stores = await createStores()
    check.onEnd(stores.remove)
    const connected = connect(stores.addresses)
    check.onEnd(() => disconnect(connected))
    const both = { postgres: connected.postgres, addresses: stores.addresses }
    return { api: await attackApi(check, both), collector: await attackCollector(check, both) }
  },
)
