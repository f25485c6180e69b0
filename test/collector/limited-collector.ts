// A whole collector that allows few different values per site; value-limits-flow.test.ts sets the limits by environment variables.
import { pino } from 'pino'
import { startCollector } from '../../src/collector/service.ts'
import { readCollectorConfigOrExit } from '../../src/config/reading.ts'

const config = readCollectorConfigOrExit()
const collector = await startCollector(config, pino({ level: config.LOG_LEVEL }), {
  limitedFrom: 10,
  limits: {
    path: { maxEarlier: 100, maxNew: 5 },
    referrer: { maxEarlier: 100, maxNew: 3 },
    source: { maxEarlier: 100, maxNew: 2 },
    medium: { maxEarlier: 100, maxNew: 2 },
    campaign: { maxEarlier: 100, maxNew: 2 },
    content: { maxEarlier: 100, maxNew: 2 },
    term: { maxEarlier: 100, maxNew: 2 },
    hostname: { maxEarlier: 100, maxNew: 1 },
    event: { maxEarlier: 100, maxNew: 2 },
    property_key: { maxEarlier: 2, maxNew: 2, isForAllDays: true },
    property: { maxEarlier: 100, maxNew: 3 },
  },
})
process.once('SIGTERM', async () => {
  await collector.stop(0)
  process.exit()
})
