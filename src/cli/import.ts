import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { openCountries } from '../collector/country.ts'
import { FileFaults, type ImportFile, importFile } from '../collector/import/job.ts'
import { type Command, CommandError, positionals, text } from './command.ts'
import { siteOf } from './site.ts'
import { showProgress } from './terminal.ts'

export const importCommand: Command = {
  summary: 'Bring in traffic from elsewhere, exactly once; it can be stopped and started again',
  usage: '<site> <file> [--format <csv|jsonl>]',
  options: { format: { type: 'string' } },
  optionHelp: { format: 'csv or jsonl; as the name of the file says unless told otherwise (docs/import.md)' },
  examples: ['footfall import example.com visits.csv'],
  async run(input, { postgres, clickhouse, config, progressTo }) {
    const [reference, path] = positionals(input, ['site', 'file']) as [string, string]
    const site = await siteOf(postgres, reference)
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) throw new CommandError(`There is no file ${path}.`, 'Name one that this machine can read.')
    // It is read twice, which a pipe cannot be.
    if (!found.isFile()) throw new CommandError(`${path} is not a file.`, 'Name a file of CSV or JSON Lines.')
    const countries = await openCountries(config.COUNTRY_FILE)
    // The file is read twice: all of it is checked before anything is written.
    const progress = {
      checking: showProgress(progressTo, `Checking ${basename(path)}`, 'bytes'),
      importing: showProgress(progressTo, `Importing ${basename(path)}`, 'bytes'),
    }
    try {
      const outcome = await importFile(
        { path, format: formatOf(path, text(input, 'format')) },
        {
          postgres,
          clickhouse,
          countries,
          site,
          now: Date.now(),
          onProgress: (reading, done, total) => progress[reading].update(done, total),
        },
      )
      const { events, bots, tooOld, days, imported } = outcome
      const count = (number: number) => number.toLocaleString('en')
      const left = bots > 0 ? ` ${count(bots)} of programs were left out.` : ''
      const old =
        tooOld > 0 ? ` ${count(tooOld)} are too old for RETENTION_MONTHS and were left out: they count nowhere.` : ''
      return {
        data: outcome,
        show: (terminal) =>
          imported === 'was'
            ? `All of it is in ${terminal.bold(site.domain)} already: nothing was done.`
            : `${terminal.bold(site.domain)} has ${count(events)} events of ${count(days)} days more now.${left}${old}`,
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

function formatOf(path: string, given: string | undefined): ImportFile['format'] {
  const format = given ?? (path.endsWith('.csv') ? 'csv' : path.endsWith('.jsonl') ? 'jsonl' : '')
  if (format === 'csv' || format === 'jsonl') return format
  throw new CommandError('The format of the file is not known.', 'Say it with --format csv or --format jsonl.')
}
