import { writeFileSync } from 'node:fs'
import { openWorld } from './world.ts'

const world = await openWorld({ events: 100_000_000, sites: 1000, fresh: false, say: console.log })
writeFileSync(
  '/tmp/mine/env.json',
  JSON.stringify({
    ...world.environment,
    pid: world.engine.pid,
    ids: Object.fromEntries(world.sizes.map((s) => [s.name, s.id])),
    zone: world.state.zone,
  }),
)
console.log('up')
process.on('SIGTERM', async () => {
  await world.close()
  process.exit(0)
})
setInterval(() => {}, 1e6)
