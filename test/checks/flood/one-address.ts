// One address sends unique events, another one unique properties, as fast as they can: their burst and their rate are accepted, everything
// else is refused, and visitors from other addresses are served as before.
import type { Installation } from '../collect/installation.ts'
import { type Check, pause, quantile } from '../runner.ts'
import { measure, round2 } from '../slowloris/attack.ts'
import { honestVisitor, judgeRatio } from '../slowloris/collector.ts'
import { startSending } from './sending.ts'
import type { Kind } from './traffic.ts'

const eventsPerRequest = 5
const [perSecond, burst] = [50, 1_000]
const pauseMs = 10
const baselineMs = 3_000

export async function floodFromOneAddress(check: Check, installation: Installation, events: number) {
  const { collector } = installation
  const [site, honestSite] = [await installation.newSite(), await installation.newSite()]
  const visitors = Array.from({ length: 8 }, (_, at) =>
    honestVisitor(Number(new URL(collector.url).port), honestSite.domain, `127.0.0.${at + 11}`),
  )
  let turn = 0
  const hit = () => (visitors[turn++ % visitors.length] as (typeof visitors)[number]).hit()
  for (let count = 0; count < 100; count++) await hit()

  const before = await measure(hit, pause(baselineMs), pauseMs)

  async function attackWith(kind: Kind, from: string, events: number) {
    const began = performance.now()
    const attack = startSending(check, {
      ...{ url: collector.url, kind, domain: site.domain, from, isPatient: false },
      ...{ requests: Math.ceil(events / eventsPerRequest), eventsPerRequest },
    })
    const during = await measure(hit, attack, pauseMs)
    const answers = await attack
    const seconds = (performance.now() - began) / 1000
    const taken = (answers['202'] ?? 0) * eventsPerRequest
    const most = Math.ceil(burst + perSecond * (seconds + 1) + eventsPerRequest)
    const name = `one address, ${kind}`
    check.say(`${name}: ${JSON.stringify(answers)} in ${round2(seconds)} s, at most ${most} events may be accepted`)
    if (taken > most) check.fault(`${name}: its burst and its rate`, `${taken} events accepted, more than ${most}`)
    const others = Object.keys(answers).filter((status) => status !== '202' && status !== '429')
    if (others.length > 0 || !answers['429']) check.fault(`${name}: refused with 429`, JSON.stringify(answers))
    for (const visitor of visitors) visitor.judge(check)
    const ratio = judgeRatio(check, name, before, during)
    return {
      events,
      seconds: round2(seconds),
      taken,
      most,
      honest: { before: before.length, during: during.length },
      p50Ms: { before: round2(quantile(before, 0.5)), during: round2(quantile(during, 0.5)), ratio },
    }
  }
  const unique = await attackWith('unique', '127.0.0.2', events)
  return { unique, keys: await attackWith('keys', '127.0.0.4', events / 5) }
}
