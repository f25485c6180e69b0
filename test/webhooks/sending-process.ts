// A process that delivers, for tests that kill it. Its environment says where the stores are.
import { createLog } from '../../src/process/log.ts'
import { startWebhooks } from '../../src/webhooks/sender.ts'
import { connect, keySecrets, type StoreAddresses } from '../support/stores.ts'
import { rules } from './delivering.ts'

const stores = connect(JSON.parse(process.env.TEST_STORES as string) as StoreAddresses)
startWebhooks(stores, { secrets: keySecrets, rules, log: createLog('silent') })
