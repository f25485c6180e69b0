// No acknowledged event is lost and none is counted twice: collector, shipper, ClickHouse, API and load on this machine over real HTTP,
// under full load and with every part killed. The ledger of acknowledged ids equals the table and the API's totals.
// `--cpu` limits the CPU of an event to this multiple of an endpoint that does nothing: 3 on an otherwise idle machine.
//   npm run check:collect -- --rounds 50 --down 300 --seconds 30
import { seeded } from '../../support/random.ts'
import { runCheck } from '../runner.ts'
import { clickhouseDown, diskFull, killed, repeated } from './faults.ts'
import { install } from './installation.ts'
import { measureSteady } from './steady.ts'

await runCheck(
  { name: 'collect', options: { rounds: 3, seconds: 9, down: 10, cpu: 3 }, seconds: ({ rounds }) => 900 + rounds * 20 },
  async (check, { rounds, seconds, down, cpu }) => {
    const installation = await install(check)
    await installation.startCollector()
    const steady = await measureSteady(check, installation, { seconds, maxCpuRatio: cpu })
    return {
      steady,
      repeated: await repeated(check, installation),
      killed: await killed(check, installation, rounds, seeded(check.seed)),
      clickhouseDown: await clickhouseDown(check, installation, down),
      diskFull: await diskFull(check, installation),
    }
  },
)
