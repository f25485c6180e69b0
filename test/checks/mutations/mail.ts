// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of mail: copies, claims, restores, secrets. */
export const mail: readonly Mutation[] = [
  {
    name: 'mail: a process sends what another process has by now',
    file: 'src/mail/sender.ts',
    find: '() => handOver(postgres, sender, message)',
    replace: 'async () => (await handOver(postgres, sender, message)) || true',
    caughtBy: 'test/mail/sender.test.ts',
  },
  {
    name: 'mail: what a dead process handed over is sent again',
    file: 'src/mail/outbox.ts',
    find: '`handed_over_at IS NULL OR kind = ANY',
    replace: '`true OR kind = ANY',
    caughtBy: 'test/mail/sender.test.ts',
  },
  {
    name: 'mail: a claim is not counted in the ledger',
    file: 'src/mail/outbox.ts',
    find: '(SELECT count_change(ARRAY[${shard}::int::smallint]) FROM claimed LIMIT 1)',
    replace: '(SELECT ${shard}::int FROM claimed LIMIT 1)',
    caughtBy: 'test/mail/sender.test.ts',
  },
  {
    name: 'mail: the content of a sent message stays',
    file: 'src/mail/outbox.ts',
    find: "SET state = 'sent', content = NULL, problem",
    replace: "SET state = 'sent', problem",
    caughtBy: 'test/mail/sender.test.ts',
  },
  {
    name: 'mail: TLS is not demanded',
    file: 'src/mail/smtp.ts',
    find: 'requireTLS: server.needsTls && !server.isSecure',
    replace: 'requireTLS: false',
    caughtBy: 'test/mail/sender.test.ts',
  },
  {
    name: 'mail: silence after the end of a message counts as a failure before it',
    file: 'src/mail/smtp.ts',
    find: "isHandedOver ? 'unknown' : 'postponed'",
    replace: "'postponed'",
    caughtBy: 'test/mail/sender.test.ts',
  },
  {
    name: 'mail: a process gives back what it handed over',
    file: 'src/mail/outbox.ts',
    find: "      SET state = CASE WHEN ${mayBeSent(postgres)} THEN 'waiting' ELSE 'in doubt' END,\n          problem",
    replace: "      SET state = 'waiting',\n          problem",
    caughtBy: 'test/mail/sending.test.ts',
  },
  {
    name: 'mail: a password reset waits for the reports of a Monday',
    file: 'src/mail/sender.ts',
    find: "['no reports', 'everything'",
    replace: "['everything', 'everything'",
    caughtBy: 'test/mail/sending.test.ts',
  },
  {
    name: 'mail: the end of a process counts as a failure of the report that it writes',
    file: 'src/mail/sender.ts',
    find: "      if (signal.aborted) return { state: 'returned' }\n",
    replace: '',
    caughtBy: 'test/mail/sending.test.ts',
  },
]
