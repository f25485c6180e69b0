// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of reports by email: who gets them, and when. */
export const reportRecipients: readonly Mutation[] = [
  {
    name: 'reports: one click ends a report with any token',
    file: 'src/email-reports/links.ts',
    find: "return signedText(secrets, 'report link', `${action} ${id}.${signature}`) && id",
    replace: "return (signedText(secrets, 'report link', `${action} ${id}.${signature}`) ?? id) && id",
    caughtBy: 'test/console/report-links.test.ts',
  },
  {
    name: 'reports: opening the link confirms',
    file: 'src/console/pages/report-links.ts',
    find: "  return page(visit, {\n    title: 'Do you want this report?',",
    replace:
      "  await confirmReport(visit.services.postgres, report.id)\n  return page(visit, {\n    title: 'Do you want this report?',",
    caughtBy: 'test/console/report-links.test.ts',
  },
  {
    name: 'reports: one click needs a form of ours',
    file: 'src/console/pages/report-links.ts',
    find: "path: '/reports/unsubscribe/:token', access: 'mailed-link', handle: end",
    replace: "path: '/reports/unsubscribe/:token', access: 'everyone', handle: end",
    caughtBy: 'test/console/report-links.test.ts',
  },
  {
    name: 'reports: a removed member keeps getting reports',
    file: 'src/users/members.ts',
    find: '    await endReportsOf(transaction, actor, { accountId, userId, email })\n',
    replace: '',
    caughtBy: 'test/console/reports.test.ts',
  },
  {
    name: 'reports: a viewer may subscribe others',
    file: 'src/users/report-changes.ts',
    find: "if (requester.role !== 'owner' && recipient !== requester) throw new ChangeRefused('owners_only')",
    replace: "if (requester.role !== 'owner' && recipient === undefined) throw new ChangeRefused('owners_only')",
    caughtBy: 'test/console/reports.test.ts',
  },
  {
    name: 'reports: two processes exceed the limit of mails',
    file: 'src/mail/limits.ts',
    find: '  await lock(transaction, `mail to ${recipient}`)\n',
    replace: '',
    caughtBy: 'test/console/reports.test.ts',
  },
  {
    name: 'reports: what nobody confirmed in time can be confirmed',
    file: 'src/email-reports/subscriptions.ts',
    find: "export const confirmWithin = '7 days'",
    replace: "export const confirmWithin = '70 days'",
    caughtBy: 'test/console/reports.test.ts',
  },
  {
    name: 'reports: an address gets reports before it confirms',
    file: 'src/email-reports/queue-due.ts',
    find: 'WHERE confirmed_at IS NOT NULL AND look_at <= now()',
    replace: 'WHERE look_at <= now()',
    caughtBy: 'test/email-reports/queue-due.test.ts',
  },
  {
    name: 'reports: a report that is due is queued twice',
    file: 'src/email-reports/queue-due.ts',
    find: 'LIMIT ${atOnce} FOR UPDATE SKIP LOCKED`',
    replace: 'LIMIT ${atOnce}`',
    caughtBy: 'test/email-reports/queue-due.test.ts',
  },
  {
    name: 'reports: what was due before a restore is sent again',
    file: 'src/email-reports/queue-due.ts',
    find: "CASE WHEN due < began_at THEN 'in doubt' ELSE 'waiting' END",
    replace: "CASE WHEN due > now() THEN 'in doubt' ELSE 'waiting' END",
    caughtBy: 'test/email-reports/queue-due.test.ts',
  },
]
