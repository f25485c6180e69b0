// Loaded into an API process before its own code (`--import`): a test controls its clock and name server. Each SIGUSR2 moves on to the
// next of UNSTEADY_STEPS, a JSON list of steps.
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

export interface Step {
  /** Added to the clock. */
  clockMs?: number
  /** What happens to name queries; names under .test resolve to 127.0.0.1. */
  names?: 'answer' | 'fail' | 'hang'
}

const steps = JSON.parse(process.env.UNSTEADY_STEPS ?? '[{}]') as Step[]
let current = steps.shift() as Step
process.on('SIGUSR2', () => {
  current = steps.shift() ?? current
})

const now = Date.now
Date.now = () => now() + (current.clockMs ?? 0)

type Callback = (error: NodeJS.ErrnoException | null, ...rest: unknown[]) => void

const ordinary = dns.lookup as (host: string, options: { all?: boolean }, callback: Callback) => void

const lookup: typeof ordinary = (host, options, callback) => {
  if (!host.endsWith('.test')) return ordinary(host, options, callback)
  if (current.names === 'hang') return
  if (current.names === 'fail') {
    const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' })
    return void setImmediate(callback, error)
  }
  const found = { address: '127.0.0.1', family: 4 }
  setImmediate(callback, null, ...(options.all ? [[found]] : [found.address, found.family]))
}
Object.assign(dns, { lookup })
syncBuiltinESMExports()
