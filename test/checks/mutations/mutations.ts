// Deliberate breakages that the tests must notice: a test proves something only if it can fail. `run.ts` makes them one by one in a copy
// of the tree. There is one for each promise that users rely on, in the file of the module that it breaks: that numbers are right, that no
// acknowledged event is lost or counted twice, that nobody sees what is not theirs. Each long check has one that it finds in a short form.
import { accounts } from './accounts.ts'
import { alerts } from './alerts.ts'
import { api } from './api.ts'
import { cli } from './cli.ts'
import { collector } from './collector.ts'
import { console } from './console.ts'
import { emailReports } from './email-reports.ts'
import { erasure } from './erasure.ts'
import { importing } from './importing.ts'
import { live } from './live.ts'
import { mail } from './mail.ts'
import { mcp } from './mcp.ts'
import { moving } from './moving.ts'
import { recounting } from './recounting.ts'
import { reportRecipients } from './report-recipients.ts'
import { rollups } from './rollups.ts'
import { shipper } from './shipper.ts'
import { stats } from './stats.ts'
import { stores } from './stores.ts'
import { tracing } from './tracing.ts'
import { users } from './users.ts'
import { webhooks } from './webhooks.ts'

export interface Mutation {
  name: string
  file: string
  /** Occurs exactly once in the file. */
  find: string
  replace: string
  /** The test file that must fail, or the check: `check:sqli -- --n 5000`. */
  caughtBy: string
}

export const mutations: readonly Mutation[] = [
  ...accounts,
  ...alerts,
  ...api,
  ...cli,
  ...collector,
  ...console,
  ...emailReports,
  ...erasure,
  ...importing,
  ...live,
  ...mail,
  ...mcp,
  ...moving,
  ...recounting,
  ...reportRecipients,
  ...rollups,
  ...shipper,
  ...stats,
  ...stores,
  ...tracing,
  ...users,
  ...webhooks,
]
