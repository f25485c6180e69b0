// An attack from 200 networks of one /48, and what it must not disturb. Phases with and without the attack alternate, so that a busy
// neighbour of this machine disturbs both alike.
import { round } from '../../bench/api/measure.ts'
import { paced } from './paced.ts'
import { type Check, quantile } from './runner.ts'

const networks = 200
const attackedMs = 10_000
const quietMs = 5_000
const requestsPerSecond = 200
/** A link has the tokens of one page a second. */
const usersPerSecond = 0.5

export interface Attack {
  seconds: number
  /** A median during the attack is at most this many times the one without. */
  most: number
  /** One request of a network that attacks. */
  attack(address: string, index: number): Promise<unknown>
  /** Requests that must not notice the attack: each resolves with its status. */
  users: Record<string, () => Promise<number>>
  /** The status that they get. */
  expected: number
}

export async function underAttack(check: Check, { seconds, most, attack, users, expected }: Attack) {
  let sent = 0
  const attackOnce = async () => {
    const index = sent++
    await attack(`2001:db8:1:${(index % networks).toString(16)}::1`, index).catch(() => {}) // the attacker's own trouble
  }
  const times = Object.fromEntries(Object.keys(users).map((name) => [name, { quiet: [], attacked: [] } as Times]))

  async function phase(kind: keyof Times, ms: number): Promise<void> {
    const asking = Object.entries(users).map(([name, ask]) =>
      paced(usersPerSecond, ms, async () => {
        const began = performance.now()
        const status = await ask()
        times[name]?.[kind].push(performance.now() - began)
        if (status !== expected) check.fault(`${name}, ${kind}`, `answered ${status}`)
      }),
    )
    await Promise.all([...asking, kind === 'attacked' && paced(requestsPerSecond, ms, attackOnce)])
  }

  for (let left = seconds * 1000; left > 0; left -= attackedMs) {
    await phase('quiet', quietMs)
    await phase('attacked', Math.min(left, attackedMs))
  }
  const medians = Object.entries(times).map(([name, { quiet, attacked }]) => {
    const [without, during] = [quantile(quiet, 0.5), quantile(attacked, 0.5)]
    const ratio = round(during / without, 2)
    if (!(ratio <= most)) check.slow(`${name} during the attack`, `${ratio} times the median without it`)
    return [
      name,
      { without: round(without, 1), during: round(during, 1), p10: round(quantile(attacked, 0.1), 1), ratio },
    ]
  })
  return { attack: { sent, ...Object.fromEntries(medians) } }
}

interface Times {
  quiet: number[]
  attacked: number[]
}
