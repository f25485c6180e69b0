// Tests that break a server start their own, regardless of CLICKHOUSE_URL, DATABASE_URL and REDIS_URL. Where that server cannot be
// started, they are skipped, and the report says why.
import * as runner from 'node:test'
import { clickhouseMissing } from '../../dev/clickhouse/server.ts'
import { zookeeperMissing } from '../../dev/clickhouse/zookeeper.ts'
import { postgresMissing, redisMissing } from './own-servers.ts'

const whyMissing = {
  ClickHouse: clickhouseMissing,
  ZooKeeper: zookeeperMissing,
  PostgreSQL: postgresMissing,
  Redis: redisMissing,
}

type Server = keyof typeof whyMissing

/** The reason for `{ skip: … }`, or undefined when all of these servers can be started. */
export const missing = (...servers: Server[]): string | undefined =>
  servers.map((server) => whyMissing[server]()).find((why) => why !== undefined)

/** The exports of node:test, for a file whose tests all need these servers. */
export function needing(
  ...servers: Server[]
): Pick<typeof runner, 'test' | 'describe' | 'before' | 'beforeEach' | 'after'> {
  const skip = missing(...servers)
  if (skip === undefined) return runner
  const skipped = (name: string) => runner.test(name, { skip })
  const nothing = () => {}
  const all = { test: skipped, describe: skipped, before: nothing, beforeEach: nothing, after: nothing }
  return all as unknown as typeof runner
}
