// Four stages: rises, drops and silences are injected, and each must be told once, as an independent model says; quiet days of demo traffic must
// ring no alert; processes are killed between finding a change and storing it; and the cost of judging is measured.
//   npm run check:alerts
//   npm run check:alerts -- --sites 2 --quiet 1 --kills 2 --cost 500      the short form; 0 leaves a stage out
import { runCheck } from '../runner.ts'
import { measureCost } from './cost.ts'
import { checkInjected } from './injected.ts'
import { checkKills } from './kills.ts'
import { checkQuiet } from './quiet.ts'

await runCheck(
  {
    name: 'alerts',
    options: { sites: 12, quiet: 30, kills: 6, cost: 10_000 },
    mayBeZero: ['sites', 'quiet', 'kills', 'cost'],
    seconds: ({ sites, quiet, kills, cost }) => 300 + sites * 90 + quiet * 60 + kills * 40 + cost * 0.15,
  },
  async (check, { sites, quiet, kills, cost }) => ({
    ...(sites > 0 && { injected: await checkInjected(check, sites) }),
    ...(kills > 0 && { killed: await checkKills(check, kills) }),
    ...(quiet > 0 && { quietDays: await checkQuiet(check, quiet) }),
    ...(cost > 0 && { measured: await measureCost(check, cost) }),
  }),
)
