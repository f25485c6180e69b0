// Imports daily sums into a site: files in the shape of Plausible's export, by their names.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { importSums, type SumsContext, type SumsOutcome } from '../../src/importing/sums/job.ts'
import { plausible } from '../../src/importing/sums/plausible.ts'

/** Beside whatever events there are. */
export async function importDailySums(
  stores: Pick<SumsContext, 'postgres' | 'clickhouse'>,
  siteId: string,
  files: Readonly<Record<string, string>>,
  now = Date.now(),
): Promise<SumsOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-sums-'))
  try {
    const paths = Object.entries(files).map(([name, content]) => {
      writeFileSync(join(folder, name), content)
      return { path: join(folder, name), name, format: plausible }
    })
    const site = (await findSite(stores.postgres, siteId)) as Site
    return await importSums(paths, { ...stores, site, now, besideEvents: true, onProgress: () => {} })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Visitors of whole days. */
export const visitorsOfDays = (visitors: Readonly<Record<string, number>>): Record<string, string> => ({
  'imported_visitors.csv': `date,visitors,pageviews,bounces,visits,visit_duration\n${Object.entries(visitors)
    .map(([day, count]) => `${day},${count},${2 * count},0,${count},${10 * count}\n`)
    .join('')}`,
})
