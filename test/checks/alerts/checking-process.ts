// A process that judges alerts by the real clock, and stops for good between finding one and noting it if it is told to. Its environment says where
// the stores are.
import { writeSync } from 'node:fs'
import { startAlerts } from '../../../src/alerts/checking.ts'
import { createLog } from '../../../src/process/log.ts'
import { connect, type StoreAddresses } from '../../support/stores.ts'
import { telling } from './own-stores.ts'

const stores = connect(JSON.parse(process.env.TEST_STORES as string) as StoreAddresses)
const stopsAt = process.env.STOP_AFTER_FINDING === 'yes'

const stopping = {
  ...telling,
  /** Read in the transaction, after the change is made and before its message is queued. */
  get publicUrl(): string {
    writeSync(1, 'found\n')
    if (stopsAt) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    return telling.publicUrl
  },
}
startAlerts(stores, {
  log: createLog('error'),
  get outbox() {
    return stopping.outbox
  },
  get publicUrl() {
    return stopping.publicUrl
  },
})
