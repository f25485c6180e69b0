// Deliberate breakages that the tests must notice: a test proves something only if it can fail. `run.ts` makes them one by one in a copy
// of the tree. Add one with every new rule, in the file of the module that it breaks.
import { accounts } from './accounts.ts'
import { api } from './api.ts'
import { apiGate } from './api-gate.ts'
import { apiParameters } from './api-parameters.ts'
import { apiRateLimit } from './api-rate-limit.ts'
import { apiReference } from './api-reference.ts'
import { calendar } from './calendar.ts'
import { cli } from './cli.ts'
import { cliStats } from './cli-stats.ts'
import { client } from './client.ts'
import { cluster } from './cluster.ts'
import { collectorEnrichIntake } from './collector-enrich-intake.ts'
import { collectorEnrichSource } from './collector-enrich-source.ts'
import { collectorHttp } from './collector-http.ts'
import { collectorShipper } from './collector-shipper.ts'
import { collectorSpool } from './collector-spool.ts'
import { collectorVisits } from './collector-visits.ts'
import { consoleDashboard } from './console-dashboard.ts'
import { consoleGate } from './console-gate.ts'
import { consoleKeys } from './console-keys.ts'
import { consoleLinks } from './console-links.ts'
import { consolePages } from './console-pages.ts'
import { consolePeople } from './console-people.ts'
import { consoleSignOn } from './console-sign-on.ts'
import { consoleSite } from './console-site.ts'
import { erasure } from './erasure.ts'
import { importing } from './importing.ts'
import { mcp } from './mcp.ts'
import { migrations } from './migrations.ts'
import { moving } from './moving.ts'
import { process } from './process.ts'
import { project } from './project.ts'
import { replicas } from './replicas.ts'
import { rollups } from './rollups.ts'
import { rollupsLedger } from './rollups-ledger.ts'
import { statsReports } from './stats-reports.ts'
import { statsService } from './stats-service.ts'
import { statsSites } from './stats-sites.ts'
import { stores } from './stores.ts'
import { traffic } from './traffic.ts'

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
  ...api,
  ...apiGate,
  ...apiParameters,
  ...apiRateLimit,
  ...apiReference,
  ...calendar,
  ...cli,
  ...client,
  ...cliStats,
  ...collectorEnrichIntake,
  ...collectorEnrichSource,
  ...collectorHttp,
  ...collectorShipper,
  ...collectorSpool,
  ...collectorVisits,
  ...consoleDashboard,
  ...consoleGate,
  ...consolePages,
  ...consoleKeys,
  ...consoleLinks,
  ...consolePeople,
  ...consoleSignOn,
  ...consoleSite,
  ...erasure,
  ...importing,
  ...mcp,
  ...migrations,
  ...process,
  ...project,
  ...moving,
  ...replicas,
  ...rollups,
  ...rollupsLedger,
  ...statsReports,
  ...statsService,
  ...statsSites,
  ...stores,
  ...traffic,
  ...cluster,
]
