// Nothing acknowledged is lost and nothing is counted twice: collector, shipper, engine, API and load on this machine over real HTTP,
// under full load and through every end of every part. The ledger of acknowledged ids equals the table and the API's totals.
// `--cpu` is how many times the CPU of an endpoint that does nothing an event may cost: 3 on a machine that does nothing else.
//   npm run check:collect -- --rounds 50 --down 300 --seconds 30
import { seeded } from '../../oracle/random.ts'
import { runCheck } from '../fuzz/runner.ts'
import { diskFull, engineDown, killed, repeated } from './faults.ts'
import { install } from './installation.ts'
import { measureSteady } from './steady.ts'

await runCheck(
  { name: 'collect', size: { option: 'rounds', default: 3 }, seconds: (rounds) => 900 + rounds * 20 },
  async (check, { seconds = '9', down = '10', cpu = '3' }) => {
    const installation = await install(check)
    await installation.startCollector()
    const steady = await measureSteady(check, installation, {
      seconds: Number(seconds),
      mostCpuRatio: Number(cpu),
    })
    return {
      steady,
      repeated: await repeated(check, installation),
      killed: await killed(check, installation, check.n, seeded(check.seed)),
      engineDown: await engineDown(check, installation, Number(down)),
      diskFull: await diskFull(check, installation),
    }
  },
  { seconds: { type: 'string' }, down: { type: 'string' }, cpu: { type: 'string' } },
)
