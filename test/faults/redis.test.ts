// Every kind of Redis failure: the API keeps serving, counts locally, logs it once, and recovers without a restart (decisions D-45
// and D-70). One process behind one proxy runs through the faults in turn, each with its own key.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createClient } from '@redis/client'
import { redisLimiter } from '../../src/api/rate-limit.ts'
import { openRedis } from '../../src/stores/redis.ts'
import {
  ask,
  came,
  countsTogether,
  limit,
  logged,
  newKey,
  servesAlone,
  until,
  went,
} from '../checks/limit/without-redis.ts'
import { type ApiProcess, startApiProcess } from '../support/api-process.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { needing } from '../support/needing.ts'
import { type OwnServer, startOwnRedis } from '../support/own-servers.ts'
import { redisLines } from '../support/redis-signs.ts'
import { openStores } from '../support/stores.ts'

const { after, before, describe, test } = needing('Redis')

interface Setting {
  redis: OwnServer
  proxy: FaultProxy
  /** Sends a command to Redis on a connection opened before the fault. */
  tell(...words: string[]): Promise<unknown>
}

interface Fault {
  begin(setting: Setting): unknown
  end(setting: Setting): unknown
}

/** Drops all connections except the one that sends it. */
const dropConnections = ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']

const faults: Record<string, Fault> = {
  'killed, and back without its data': { begin: ({ redis }) => redis.kill(), end: ({ redis }) => redis.start() },
  hung: { begin: ({ redis }) => redis.signal('SIGSTOP'), end: ({ redis }) => redis.signal('SIGCONT') },
  'slower than its deadline': {
    begin: ({ proxy }) => proxy.setFault({ latencyMs: 300 }),
    end({ proxy }) {
      proxy.setFault({ reset: true }) // or bytes that the proxy still holds back would arrive later
      proxy.setFault({})
    },
  },
  'reset and refused connections': {
    begin: ({ proxy }) => proxy.setFault({ reset: true }),
    end: ({ proxy }) => proxy.setFault({}),
  },
  // The connection stays dead after the network recovers, as behind a firewall that forgot it: only a new one works.
  'a silently lost connection': {
    begin: ({ proxy }) => proxy.setFault({ blackHole: true }),
    end: ({ proxy }) => proxy.setFault({}),
  },
  'a new password (NOAUTH)': {
    async begin({ tell }) {
      await tell('CONFIG', 'SET', 'requirepass', 'a-new-password')
      await tell(...dropConnections)
    },
    end: ({ tell }) => tell('CONFIG', 'SET', 'requirepass', ''),
  },
  'scripts forbidden (NOPERM)': {
    begin: ({ tell }) => tell('ACL', 'SETUSER', 'default', '-eval', '-evalsha'),
    end: ({ tell }) => tell('ACL', 'SETUSER', 'default', '+eval', '+evalsha'),
  },
  'disk full (MISCONF)': {
    // A snapshot to a deleted folder fails like one on a full disk, and then Redis refuses writes.
    async begin({ redis, tell }) {
      const gone = join(redis.folder, 'gone')
      mkdirSync(gone)
      await tell('CONFIG', 'SET', 'dir', gone)
      rmSync(gone, { recursive: true })
      await tell('CONFIG', 'SET', 'save', '3600 1')
      await tell('BGSAVE')
      await until('the snapshot fails', async () => `${await tell('INFO')}`.includes('last_bgsave_status:err'))
    },
    async end({ redis, tell }) {
      const snapshot = join(redis.folder, 'dump.rdb')
      await tell('CONFIG', 'SET', 'dir', redis.folder)
      await tell('BGSAVE')
      await until('the snapshot succeeds', async () => existsSync(snapshot))
      await tell('CONFIG', 'SET', 'save', '')
      rmSync(snapshot)
    },
  },
  'too few replicas to write (NOREPLICAS)': {
    begin: ({ tell }) => tell('CONFIG', 'SET', 'min-replicas-to-write', '1'),
    end: ({ tell }) => tell('CONFIG', 'SET', 'min-replicas-to-write', '0'),
  },
  'no longer the primary (READONLY)': {
    begin: ({ tell }) => tell('REPLICAOF', '127.0.0.1', '1'),
    end: ({ tell }) => tell('REPLICAOF', 'NO', 'ONE'),
  },
  'out of memory (OOM)': {
    begin: ({ tell }) => tell('CONFIG', 'SET', 'maxmemory', '1mb'),
    end: ({ tell }) => tell('CONFIG', 'SET', 'maxmemory', '0'),
  },
  'too many clients': {
    async begin({ tell }) {
      await tell('CONFIG', 'SET', 'maxclients', '1')
      await tell(...dropConnections)
    },
    end: ({ tell }) => tell('CONFIG', 'SET', 'maxclients', '100'),
  },
}

describe('Redis fails under a running process', () => {
  let api: ApiProcess
  let setting: Setting
  let client: ReturnType<typeof createClient>

  before(async () => {
    const { addresses } = await openStores()
    const redis = await startOwnRedis('--enable-protected-configs', 'yes')
    const proxy = await startFaultProxy({ port: redis.port })
    client = createClient({ url: redis.url })
    await client.on('error', () => {}).connect()
    setting = { redis, proxy, tell: (...words) => client.sendCommand(words) }
    api = await startApiProcess({ ...addresses, redis: `redis://127.0.0.1:${proxy.port}` })
    await ask(api, await newKey()) // so that the extra time of a first request does not count as Redis time
  })
  after(async () => {
    await api?.stop()
    client.destroy()
    await setting.proxy.close()
    await setting.redis.remove()
  })

  for (const [name, fault] of Object.entries(faults)) {
    test(name, async () => {
      const lines = redisLines(api).length
      const key = await newKey()
      const known = await ask(api, key)
      assert.equal(known.remaining, limit - 1)

      let last = known
      try {
        await fault.begin(setting)
        last = await servesAlone(api, key, known)
      } finally {
        await fault.end(setting)
      }
      await countsTogether(api, setting.redis.url, key, last)
      await logged(api, lines, went, came)
    })
  }

  test('killed during requests: all of them are answered and counted', async () => {
    const lines = redisLines(api).length
    const key = await newKey()
    const known = await ask(api, key)
    const underWay = Array.from({ length: 20 }, () => ask(api, key))
    await setting.redis.kill()
    const answers = await Promise.all(underWay)
    for (const { status, reset } of answers) assert.deepEqual({ status, reset }, { status: 400, reset: known.reset })

    const lowest = answers.reduce((a, b) => (b.remaining < a.remaining ? b : a))
    const last = await servesAlone(api, key, lowest)
    await setting.redis.start()
    await countsTogether(api, setting.redis.url, key, last)
    await logged(api, lines, went, came)
  })

  test('emptied at runtime: no request is affected', async () => {
    const lines = redisLines(api).length
    const key = await newKey()
    const known = await ask(api, key)
    await setting.tell('FLUSHALL')
    await setting.tell('SCRIPT', 'FLUSH')
    await countsTogether(api, setting.redis.url, key, known)
    await logged(api, lines)
  })
})

describe('Redis fails while a process starts', () => {
  async function startRedis(t: TestContext): Promise<OwnServer> {
    const redis = await startOwnRedis()
    t.after(() => redis.remove())
    return redis
  }

  async function startApi(t: TestContext, redis: string): Promise<ApiProcess> {
    const { addresses } = await openStores()
    const api = await startApiProcess({ ...addresses, redis })
    t.after(() => api.stop())
    return api
  }

  test('down', async (t) => {
    const redis = await startRedis(t)
    await redis.kill()
    const api = await startApi(t, redis.url)
    const key = await newKey()
    const last = await servesAlone(api, key)
    await redis.start()
    await countsTogether(api, redis.url, key, last)
    await logged(api, 0, went, came)
  })

  test('wrong password (WRONGPASS)', async (t) => {
    const redis = await startRedis(t)
    const client = createClient({ url: redis.url }).on('error', () => {})
    await client.connect()
    t.after(() => client.destroy())
    await client.sendCommand(['CONFIG', 'SET', 'requirepass', 'this one'])
    const url = `redis://:another@127.0.0.1:${redis.port}`
    const api = await startApi(t, url)
    const key = await newKey()
    const last = await servesAlone(api, key)
    await client.sendCommand(['CONFIG', 'SET', 'requirepass', 'another'])
    await countsTogether(api, url, key, last)
    await logged(api, 0, went, came)
  })

  test('not connected yet: the first requests wait for Redis and count with the others', async (t) => {
    const { url } = await startRedis(t)
    const changes: boolean[] = []
    const redis = openRedis(url, (isUp) => changes.push(isUp))
    t.after(() => redis.close())
    const faults: Error[] = []
    const limiter = redisLimiter({ redis, prefix: '', now: Date.now, onDegraded: (error) => faults.push(error) })
    assert.equal((await limiter.spend('a key', limit)).remaining, limit - 1)
    assert.deepEqual([faults, changes], [[], []])
  })
})
