import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { openCountries } from '../enrichment/country.ts'
import { FileFaults, type ImportFile, importFile } from '../importing/job.ts'
import { outboxOf } from '../mail/settings.ts'
import { whileOnItsShard } from '../moving/writing.ts'
import { commandLine } from '../users/audit-log.ts'
import { queueImportFinished } from '../users/import-notice.ts'
import { noteImport } from '../users/notes.ts'
import { type Command, CommandError, positionals, text } from './command.ts'
import { siteOf } from './site-reference.ts'
import { showProgress } from './terminal.ts'

export const importCommand: Command = {
  summary: 'Import traffic from a file, exactly once; an import that was stopped can be started again',
  usage: '<site> <file> [--format <csv|jsonl>]',
  options: { format: { type: 'string' } },
  optionHelp: { format: 'csv or jsonl; the default follows the name of the file (docs/import.md)' },
  examples: ['footfall import example.com visits.csv'],
  async run(input, { postgres, cluster, config, progressTo }) {
    const [reference, path] = positionals(input, ['site', 'file']) as [string, string]
    const site = await siteOf(postgres, reference)
    const file = statSync(path, { throwIfNoEntry: false })
    if (!file) throw new CommandError(`There is no file ${path}.`, 'Name a file on this machine.')
    // A pipe cannot be read twice.
    if (!file.isFile()) throw new CommandError(`${path} is not a file.`, 'Name a file in CSV or JSON Lines format.')
    const countries = await openCountries(config.COUNTRY_FILE)
    // The file is read twice, so that all of it is checked before anything is written.
    const progress = {
      checking: showProgress(progressTo, `Checking ${basename(path)}`, 'bytes'),
      importing: showProgress(progressTo, `Importing ${basename(path)}`, 'bytes'),
    }
    try {
      const file = { path, format: formatOf(path, text(input, 'format')) }
      const outcome = await whileOnItsShard(postgres, site.id, async () =>
        importFile(file, {
          postgres,
          clickhouse: cluster.of(await siteOf(postgres, site.id)),
          countries,
          site,
          now: Date.now(),
          onProgress: (reading, done, total) => progress[reading].update(done, total),
          onFinish: async (transaction, { events, days }) => {
            await noteImport(transaction, commandLine, site, { events, days })
            await queueImportFinished(transaction, outboxOf(config), site, { events, days: days.length })
          },
        }),
      )
      const { events, bots, tooOld, days, imported } = outcome
      const count = (number: number) => number.toLocaleString('en')
      const left = bots > 0 ? ` Left out ${count(bots)} events of bots.` : ''
      const old = tooOld > 0 ? ` Left out ${count(tooOld)} events that are too old for RETENTION_MONTHS.` : ''
      return {
        data: outcome,
        show: (terminal) =>
          imported === 'was'
            ? `This file is already imported into ${terminal.bold(site.domain)}: nothing was done.`
            : `Imported ${count(events)} events on ${count(days)} days into ${terminal.bold(site.domain)}.${left}${old}`,
      }
    } catch (error) {
      if (error instanceof FileFaults) throw new CommandError(error.message, 'Nothing was written. See docs/import.md.')
      throw error
    } finally {
      progress.checking.end()
      progress.importing.end()
      countries.close()
    }
  },
}

function formatOf(path: string, option: string | undefined): ImportFile['format'] {
  const format = option ?? (path.endsWith('.csv') ? 'csv' : path.endsWith('.jsonl') ? 'jsonl' : '')
  if (format === 'csv' || format === 'jsonl') return format
  throw new CommandError('The format of the file is unknown.', 'Add --format csv or --format jsonl.')
}
