// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of alerts: begin and end, what is usual, what is read, what is noted and who is told. */
export const alerts: readonly Mutation[] = [
  {
    name: 'alerts: a rise ends below its threshold, without a margin',
    file: 'src/alerts/judging.ts',
    find: 'const margin = 0.8',
    replace: 'const margin = 1',
    caughtBy: 'test/alerts/judging.test.ts',
  },
  {
    name: 'alerts: a rise ends although the next hour is above the threshold',
    file: 'src/alerts/judging.ts',
    find: 'if (isAbove || !whole',
    replace: 'if (!whole',
    caughtBy: 'test/alerts/judging.test.ts',
  },
  {
    name: 'alerts: small sites are judged',
    file: 'src/alerts/judging.ts',
    find: 'if (beganAt === undefined && !(usual !== undefined && usual >= minUsual)) return undefined',
    replace: 'if (beganAt === undefined && usual === undefined) return undefined',
    caughtBy: 'test/alerts/judging.test.ts',
  },
  {
    name: 'alerts: weeks without visitors count',
    file: 'src/alerts/judging.ts',
    find: '.filter((count) => count > 0)',
    replace: '.filter(() => true)',
    caughtBy: 'test/alerts/judging.test.ts',
  },
  {
    name: 'alerts: an hour is judged before its last events have come',
    file: 'src/alerts/checking.ts',
    find: 'now >= current.start + settleMs && ',
    replace: '',
    caughtBy: 'test/alerts/checking.test.ts',
  },
  {
    name: 'alerts: after an outage of Footfall the hours of the outage are judged',
    file: 'src/alerts/checking.ts',
    find: 'const watchedSince = isLate ? now : last.watchedSince',
    replace: 'const watchedSince = last?.watchedSince ?? now',
    caughtBy: 'test/alerts/checking.test.ts',
  },
  {
    name: 'alerts: excluded countries count',
    file: 'src/alerts/statement.ts',
    find: 'if (excluded.length > 0) conditions',
    replace: 'if (excluded.length > 99) conditions',
    caughtBy: 'test/alerts/checking.test.ts',
  },
  {
    name: 'alerts: all zones have the hours of UTC',
    file: 'src/alerts/statement.ts',
    find: 'return rest.reduce(',
    replace: 'return rest.slice(0, 0).reduce(',
    caughtBy: 'test/alerts/checking.test.ts',
  },
  {
    name: 'alerts: a change is noted although another process was first',
    file: 'src/alerts/telling.ts',
    find: ' AND is_on = ${alert.isOn} AND is_told = ${alert.isTold}',
    replace: '',
    caughtBy: 'test/alerts/checking.test.ts',
  },
  {
    name: 'alerts: what was judged by earlier settings is noted',
    file: 'src/alerts/telling.ts',
    find: ' AND version = ${alert.version}',
    replace: '',
    caughtBy: 'test/alerts/checking.test.ts',
  },
  {
    name: 'alerts: messages are queued outside of the transaction',
    file: 'src/alerts/telling.ts',
    find: 'await tell(transaction, telling',
    replace: 'await tell(postgres, telling',
    caughtBy: 'test/alerts/checking.test.ts',
  },
  {
    name: 'alerts: a change is noted before its messages are queued',
    file: 'src/alerts/telling.ts',
    find: '  return inTransaction(postgres, async (transaction) => {',
    replace:
      '  const inTransaction = (one, work) => work(one)\n  return inTransaction(postgres, async (transaction) => {',
    caughtBy: 'check:alerts -- --sites 0 --quiet 0 --kills 1 --cost 0',
  },
  {
    name: 'alerts: quiet hours end a day before they begin',
    file: 'src/alerts/alert.ts',
    find: ': hour >= from || hour < until',
    replace: ': hour >= from && hour < until',
    caughtBy: 'test/alerts/judging.test.ts',
  },
  {
    name: 'alerts: what may have been told before a restore is sent again',
    file: 'src/alerts/telling.ts',
    find: 'row.isDoubtful ? doubtful : undefined',
    replace: 'undefined',
    caughtBy: 'test/alerts/checking.test.ts',
  },
  {
    name: 'alerts: sites that move are judged',
    file: 'src/alerts/alerts.ts',
    find: 'AND hold IS NOT NULL',
    replace: 'AND hold IS NULL',
    caughtBy: 'test/alerts/checking.test.ts',
  },
  {
    name: 'alerts: a changed alert goes on where it was',
    file: 'src/alerts/alerts.ts',
    find: 'version = version + 1, is_on = false, is_told = false,',
    replace: 'version = version + 1,',
    caughtBy: 'test/console/alerts.test.ts',
  },
]
