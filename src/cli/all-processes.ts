// All processes of Footfall in one, behind one port: for a small machine, and for trying it out.
import type { Logger } from 'pino'
import { openApi } from '../api/service.ts'
import type { AllStores } from '../cluster/stores.ts'
import { openCollector } from '../collector/service.ts'
import { findInSpool } from '../collector/shipper/find-event.ts'
import type { Config } from '../config.ts'
import { openConsole } from '../console/service.ts'
import type { PortShare } from '../process/shared-port.ts'
import { startRecounting } from '../recounting/loop.ts'
import { startRollups } from '../rollups/loop.ts'
import { startBackups } from './backup-loop.ts'

/** A request looks at so much of the spool, which takes some milliseconds of all others. */
const maxSpoolBytes = 8 * 1024 * 1024

export interface AllProcesses {
  /** Keeps answering for some seconds, so that load balancers go elsewhere, then ends everything. */
  stop(drainSeconds: number): Promise<void>
}

/** The stores are for rollups and backups; every other process opens its own connections. */
export async function startAll(config: Config, log: Logger, stores: AllStores): Promise<AllProcesses> {
  let seconds = 0
  // Closed in reverse order, also if a process cannot start, because anything left open would keep this process alive.
  await using opened = new AsyncDisposableStack()
  const collector = await openCollector(config, log)
  opened.defer(() => collector.close())
  const shares: PortShare[] = [collector]
  const sharedPort = { shares, connections: { ...collector.connections, reportedBy: collector } }
  const api = await openApi(config, log, sharedPort, (siteId, eventId) =>
    findInSpool(config.SPOOL_FOLDER, { siteId, eventId }, maxSpoolBytes),
  )
  const console = openConsole(config, log, api)
  opened.defer(() => console.close())
  shares.push(console)
  opened.defer(() => {
    collector.end()
    console.end()
    return api.stop(seconds)
  })
  await api.listen()
  void console.announceSetup()
  const rollups = startRollups(stores, log, config.RETENTION_MONTHS)
  opened.defer(() => rollups.stop())
  const recounting = startRecounting(stores, log)
  opened.defer(() => recounting.stop())
  const backups = startBackups(config, { log, postgres: stores.postgres, registry: api.registry })
  opened.defer(() => backups?.stop())
  const running = opened.move()
  return {
    stop(drainSeconds) {
      seconds = drainSeconds
      return running.disposeAsync()
    },
  }
}
