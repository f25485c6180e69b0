// A whole installation while its stores break: `footfall serve` and a second collector with a slow clock, with their own PostgreSQL, Redis
// and ClickHouse. These are killed, stopped and restarted at random under 200 requests and 200 events per second, while an operator changes
// time zones, rolls up, rebuilds, and deletes a site. No process of ours exits, every acknowledged event of an existing site counts exactly
// once, rollups equal the events, and requests are answered while PostgreSQL or Redis is down.
//   npm run check:chaos -- --minutes 10
//   npm run check:chaos -- --minutes 1 --seed 7      one minute; the seed decides which store breaks, how, and for how long
//   npm run check:chaos -- --seconds 30              the short form
//   npm run check:chaos -- --minutes 1 --rate 40     fewer requests and events per second, for a busy machine
import { seeded } from '../../support/random.ts'
import { pause, runCheck } from '../runner.ts'
import { startHits } from './hits.ts'
import { install } from './installation.ts'
import { operate, workOnceMore } from './operator.ts'
import { startRequests } from './requests.ts'
import { compareAtEnd, noneEnded } from './verdict.ts'
import { breakStores } from './victims.ts'

/** Processes are slow right after their start, so measuring begins later. */
const warmUpMs = 5_000

await runCheck(
  { name: 'chaos', options: { minutes: 10, seconds: 0, rate: 200 }, seconds: ({ minutes }) => 300 + minutes * 90 },
  async (check, { minutes, seconds, rate }) => {
    const installation = await install(check, minutes)
    check.say('everything runs')
    const forMs = (seconds || minutes * 60) * 1_000
    const until = performance.now() + forMs
    const requests = await startRequests(installation, rate)
    const hits = startHits(installation, rate, check.seed)
    await pause(warmUpMs)
    const [victims, operated] = await Promise.all([
      breakStores(check, installation, requests, { random: seeded(`${check.seed}/victims`), until }),
      operate(check, installation, { random: seeded(`${check.seed}/operator`), until, deleteAfterMs: forMs / 2 }),
    ])
    await workOnceMore(check, installation)
    const answered = await requests.stop()
    check.say(`${answered.asked} requests`)
    const ledger = await hits.stop()
    check.say(`every event was accepted; ${ledger.refused} attempts were refused, ${ledger.broken} got no response`)
    noneEnded(check, installation)
    for (const [victim, { asked, failed, examples }] of Object.entries(answered.whileBroken)) {
      check.say(`${victim} away: ${asked} requests, ${failed} not answered`)
      if (victim === 'ClickHouse' || victim === 'nothing' || failed <= asked / 1_000) continue
      check.slow(`requests while ${victim} was away`, `${failed} of ${asked} were not answered`, ...examples)
    }
    const verdict = await compareAtEnd(check, installation, ledger)
    noneEnded(check, installation)
    const whileBroken = Object.fromEntries(
      Object.entries(answered.whileBroken).map(([victim, { asked, failed }]) => [victim, { asked, failed }]),
    )
    return { requests: { ...answered, whileBroken }, victims, operator: operated, events: verdict }
  },
)
