// A whole collector that allows few different values per site; value-limits-flow.test.ts sets the limits by environment variables.
import { pino } from 'pino'
import { startCollector } from '../../src/collector/service.ts'
import { readCollectorConfigOrExit } from '../../src/config.ts'

const config = readCollectorConfigOrExit()
const collector = await startCollector(config, pino({ level: config.LOG_LEVEL }), {
  limitedFrom: 10,
  limits: {
    path: { known: 100, fresh: 5 },
    referrer: { known: 100, fresh: 3 },
    source: { known: 100, fresh: 2 },
    hostname: { known: 100, fresh: 1 },
    event: { known: 100, fresh: 2 },
  },
})
process.once('SIGTERM', async () => {
  await collector.stop(0)
  process.exit()
})
