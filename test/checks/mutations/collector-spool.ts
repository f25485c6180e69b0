import type { Mutation } from './mutations.ts'

/** Breakages of the spool. */
export const collectorSpool: readonly Mutation[] = [
  {
    name: 'lag: it does not grow while the shipper is stopped',
    file: 'src/collector/metrics.ts',
    find: '      oldest = measures.oldest\n',
    replace: '',
    caughtBy: 'test/collector/shipper/shipping.test.ts',
  },
  {
    name: 'lag: a file that is removed while it is read closes the spool',
    file: 'src/collector/spool/age.ts',
    find: '      } catch {\n',
    replace: '      } catch (error) {\n        if (folder) throw error\n',
    caughtBy: 'test/collector/spool/age.test.ts',
  },
  {
    name: 'power cut: the spool does not sync to disk',
    file: 'src/collector/spool/files.ts',
    find: 'PRAGMA synchronous = FULL;',
    replace: 'PRAGMA synchronous = OFF;',
    caughtBy: 'check:powercut -- --n 3',
  },
  {
    name: 'spool: an event is acknowledged before it is stored',
    file: 'src/collector/spool/spool.ts',
    find: "group.done.reject(new Unavailable('The spool cannot be written', { cause: error }))",
    replace: 'group.done.resolve()',
    caughtBy: 'test/collector/outages.test.ts',
  },
  {
    name: 'spool: requests queue for a disk that is too slow',
    file: 'src/collector/spool/spool.ts',
    find: 'const isSlow = underWay !== undefined &&',
    replace: 'const isSlow = false &&',
    caughtBy: 'test/collector/outages.test.ts',
  },
  {
    name: 'spool: the process continues without its spool thread',
    file: 'src/collector/spool/spool.ts',
    find: '    if (hasBegun) onDeath?.(death)\n',
    replace: '',
    caughtBy: 'test/collector/outages.test.ts',
  },
  {
    name: 'operations: a spool that cannot be opened leaves its thread running',
    file: 'src/collector/spool/spool.ts',
    find: '    await worker.terminate()\n',
    replace: '    await new Promise(() => {})\n',
    caughtBy: 'test/faults/process-start.test.ts',
  },
  {
    name: 'spool: every measurement of a broken disk creates a file',
    file: 'src/collector/spool/worker.ts',
    find: 'reopening ??= setTimeout',
    replace: 'reopening = setTimeout',
    caughtBy: 'test/collector/outages.test.ts',
  },
  {
    name: 'lag: a new group has the age of the one with its number before',
    file: 'src/collector/spool/worker.ts',
    find: 'insert?.run(++lastGroup, shard, events',
    replace: 'insert?.run(null, shard, events',
    caughtBy: 'test/collector/shipper/shipping.test.ts',
  },
]
