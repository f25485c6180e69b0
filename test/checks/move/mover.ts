// Moves a site as `footfall site move` does, and stops before each step until check.ts lets it go on, so that it can be killed there.
import { once } from 'node:events'
import { openCluster } from '../../../src/cluster/cluster.ts'
import { moveSite, type Step } from '../../../src/moving/move-site.ts'
import { openPostgres } from '../../../src/stores/postgres.ts'

const [siteId, shard] = process.argv.slice(2) as [string, string]
const shards = JSON.parse(process.env.CLICKHOUSE_SHARDS as string) as string[][]
const cluster = openCluster({ CLICKHOUSE_URL: '', CLICKHOUSE_SHARDS: shards })
const postgres = openPostgres(process.env.DATABASE_URL as string, 2)
try {
  const outcome = await moveSite(
    { postgres, cluster },
    {
      siteId,
      shard: Number(shard),
      async onStep(step: Step) {
        process.send?.({ step })
        await once(process, 'message')
      },
    },
  )
  process.send?.({ outcome: outcome ?? 'another process moves it' })
} catch (error) {
  process.send?.({ outcome: (error as Error).message })
} finally {
  await Promise.all([cluster.close(), postgres.end()])
  process.disconnect?.()
}
