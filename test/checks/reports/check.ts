// Composes random reports of a dozen sites, and compares every number in both parts of each letter with the API over HTTP.
//   npm run check:reports -- --reports 1000 --seed 7
//   npm run check:reports -- --report 123 --seed 7     one report again, as printed with a difference
import { compareMany } from '../../email-reports/comparing.ts'
import { openReportsWorld } from '../../email-reports/reports-world.ts'
import { connect, createStores, disconnect } from '../../support/stores.ts'
import { runCheck } from '../runner.ts'

await runCheck(
  {
    name: 'reports',
    options: { reports: 1_000, report: Number.NaN },
    seconds: ({ reports }) => 300 + 2 * reports,
  },
  async (check, { reports, report }) => {
    const created = await createStores()
    check.onEnd(created.remove)
    const stores = connect(created.addresses)
    check.onEnd(() => disconnect(stores))
    const world = await openReportsWorld(stores, check.seed)
    check.onEnd(world.close)
    const numbers = Number.isNaN(report) ? [...Array(reports).keys()] : [report]
    let compared = 0
    await compareMany(world, check.seed, numbers, (number, differences) => {
      compared++
      for (const { report: name, part, found, expected } of differences)
        check.fault(
          'difference',
          `--report ${number}: ${name}, ${part}`,
          JSON.stringify(found),
          JSON.stringify(expected),
        )
      if (compared % 100 === 0) check.say(`${compared} reports`)
    })
    if (compared < numbers.length) check.fault('short', `${compared} of ${numbers.length} reports`)
    return { compared, differences: check.faults.difference ?? 0 }
  },
)
