import { statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Site } from '../accounts/sites.ts'
import { openCountries } from '../enrichment/country.ts'
import { type Checked, FileFaults, type ImportFile } from '../importing/checking.ts'
import { formatOf, formats } from '../importing/formats/formats.ts'
import { type ImportContext, type ImportOutcome, importFiles, previewFiles } from '../importing/job.ts'
import type { SumsFile } from '../importing/sums/checking.ts'
import { sumsFormatOf, sumsFormats } from '../importing/sums/formats.ts'
import { CannotUndo, listImports, undoImport } from '../importing/undo.ts'
import { defaultUntil } from '../importing/until.ts'
import { outboxOf } from '../mail/settings.ts'
import { whileOnItsShard } from '../moving/writing.ts'
import type { Postgres } from '../stores/postgres.ts'
import { commandLine } from '../users/audit-log.ts'
import { type FinishedImport, importFinished, importUndone } from '../users/imports.ts'
import { type Command, CommandError, type Context, type Input, positionals, text } from './command.ts'
import { importDailySums } from './import-sums.ts'
import { leftOutText } from './left-out.ts'
import { siteOf } from './site-reference.ts'
import { showProgress, type Terminal } from './terminal.ts'

const kinds = [...formats, ...sumsFormats].map(({ name }) => name).join('|')

export const importCommand: Command = {
  summary: 'Import traffic from files, exactly once; an import that was stopped can be started again',
  usage: `<site> <file>… [--from <${kinds}>] [--until <day>] [--beside-events] [--preview]`,
  options: {
    from: { type: 'string' },
    until: { type: 'string' },
    'beside-events': { type: 'boolean' },
    preview: { type: 'boolean' },
  },
  optionHelp: {
    from: 'what the files are; the default is seen from how they begin (docs/import.md)',
    until: 'the last day to import, such as 2025-03-31; files of other products end the day before the tracker began',
    'beside-events': 'import daily sums (plausible, ga4) also of days that have events of their own: both count',
    preview: 'show what would be imported and what would be left out, and write nothing',
  },
  examples: [
    'footfall import example.com visits.csv',
    'footfall import example.com access.log access.log.1 access.log.2.gz --preview',
    'footfall import example.com website_event.csv --from umami --until 2025-03-31',
    'footfall import example.com example_com_20250401.zip --preview',
  ],
  async run(input, context) {
    const [reference, ...paths] = input.positionals
    if (!reference || paths.length === 0)
      throw new CommandError('This command takes a site and at least one file.', 'Add --help to see its usage.')
    const site = await siteOf(context.postgres, reference)
    const named = dayOf(text(input, 'until'))
    const sums = sumsFilesAt(paths, text(input, 'from'))
    try {
      if (sums) return await importDailySums(input, context, { site, files: sums, until: named })
      const files = filesAt(paths, text(input, 'from'))
      const until = named ?? (await defaultUntil(context.cluster.of(site), site.id, files))
      return await withReading(context, site, { files, until }, async (given) =>
        input.options.preview === true
          ? previewed(await previewFiles(files, given), site, until)
          : imported(await importFiles(files, given), site),
      )
    } catch (error) {
      if (error instanceof FileFaults) throw new CommandError(error.message, 'Nothing was written. See docs/import.md.')
      throw error
    }
  },
}

/** Opens what both passes need, and looks up the shard while the site stays on it. */
async function withReading<Result>(
  { postgres, cluster, config, progressTo }: Context,
  site: Site,
  { files, until }: { files: readonly ImportFile[]; until: string | undefined },
  work: (given: ImportContext) => Promise<Result>,
): Promise<Result> {
  const countries = await openCountries(config.COUNTRY_FILE)
  const named = files.length === 1 ? files[0]?.name : `${files.length} files`
  const progress = {
    checking: showProgress(progressTo, `Checking ${named}`, 'bytes'),
    importing: showProgress(progressTo, `Importing ${named}`, 'events'),
  }
  try {
    return await whileOnItsShard(postgres, site.id, async () =>
      work({
        postgres,
        clickhouse: cluster.of(await siteOf(postgres, site.id)),
        countries,
        site,
        until,
        now: Date.now(),
        onProgress: (step, done, total) => progress[step].update(done, total),
        onFinish: (transaction, finished) => importFinished(transaction, commandLine, site, finished, outboxOf(config)),
      }),
    )
  } finally {
    progress.checking.end()
    progress.importing.end()
    countries.close()
  }
}

/** Undefined: they are files of events, or none that are known. */
function sumsFilesAt(paths: readonly string[], from: string | undefined): SumsFile[] | undefined {
  const named = sumsFormats.find(({ name }) => name === from)
  if (from !== undefined && !named) return undefined
  const files = paths.flatMap((path) => {
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true
    const format = isFile ? (named ?? sumsFormatOf(path)) : undefined
    return format ? [{ path, name: basename(path), format }] : []
  })
  const kinds = new Set(files.map(({ format }) => format.name))
  if (files.length > 0 && (files.length < paths.length || kinds.size > 1))
    throw new CommandError('The files are of different kinds.', 'Import the files of each product alone.')
  return files.length > 0 ? files : undefined
}

function filesAt(paths: readonly string[], from: string | undefined): ImportFile[] {
  const named = formats.find(({ name }) => name === from)
  if (from !== undefined && !named) throw new CommandError(`There is no kind of files ${from}.`, `Use one of ${kinds}.`)
  return paths.map((path) => {
    const file = statSync(path, { throwIfNoEntry: false })
    if (!file) throw new CommandError(`There is no file ${path}.`, 'Name files on this machine.')
    // A pipe cannot be read twice.
    if (!file.isFile()) throw new CommandError(`${path} is not a file.`, 'Unpack archives, and name the files in them.')
    const name = basename(path)
    const format = named ?? formatOf(path, name)
    if (!format) throw new CommandError(`It is unknown what ${path} is.`, `Add --from, with one of ${kinds}.`)
    return { path, name, format }
  })
}

function dayOf(until: string | undefined): string | undefined {
  try {
    return until && Temporal.PlainDate.from(until).toString()
  } catch {
    throw new CommandError(`${until} is not a day.`, 'Write it like this: --until 2025-03-31')
  }
}

const count = (number: number) => number.toLocaleString('en')

function imported(outcome: ImportOutcome, { domain }: Site) {
  const { events, tooOld, days, leftOut, broken } = outcome
  const old: [string, number][] = tooOld > 0 ? [['events that are too old for RETENTION_MONTHS', tooOld]] : []
  return {
    data: outcome,
    show: (terminal: Terminal) =>
      outcome.imported === 'was'
        ? `These files are already imported into ${terminal.bold(domain)}: nothing was done.`
        : [
            `Imported ${count(events)} events on ${count(days)} days into ${terminal.bold(domain)}.`,
            ...leftOutText([...Object.entries(leftOut), ...old], broken),
            `To take it back within 30 days: footfall import undo ${domain} ${outcome.id}`,
          ].join('\n'),
  }
}

function previewed({ files, events, leftOut, broken, days }: Checked, { domain }: Site, until: string | undefined) {
  const kind = files[0]?.format.name
  return {
    data: {
      files: files.map(({ path }) => path),
      kind,
      events,
      leftOut: Object.fromEntries(leftOut),
      broken,
      days,
      until,
    },
    show: (terminal: Terminal) =>
      [
        `${count(events)} events would be imported into ${terminal.bold(domain)}${days ? `, from ${days.first} to ${days.last}` : ''}.`,
        ...leftOutText([...leftOut], broken),
        'Nothing was written.',
      ].join('\n'),
  }
}

export const importList: Command = {
  summary: 'Show the imports of a site',
  usage: '<site>',
  async run(input, { postgres }) {
    const [reference] = positionals(input, ['site']) as [string]
    const { id, domain } = await siteOf(postgres, reference)
    const imports = await listImports(postgres, id)
    return {
      data: imports,
      show: (terminal) =>
        imports.length === 0
          ? `Nothing was imported into ${domain} yet. Next: footfall import ${domain} <file> --preview`
          : terminal.table(
              ['ID', 'STATE', 'EVENTS', 'DAYS', 'KIND', 'FILES'],
              imports.map(({ id, state, events, firstDay, lastDay, kind, files }) => [
                id,
                state,
                events === null ? '' : count(events),
                firstDay ? `${firstDay} to ${lastDay}` : '',
                kind,
                files.join(', '),
              ]),
            ),
    }
  },
}

export const importUndo: Command = {
  summary: 'Take an import back within 30 days; its files may be imported again',
  usage: '<site> <import>',
  examples: ['footfall import undo example.com 0b9c4a5e-7d1f-5a52-8f3b-2f6e1f0c9d11'],
  async run(input: Input, { postgres, cluster }) {
    const [reference, id] = positionals(input, ['site', 'import']) as [string, string]
    const site = await siteOf(postgres, reference)
    try {
      const undone = await whileOnItsShard(postgres, site.id, async () => {
        const clickhouse = cluster.of(await siteOf(postgres, site.id))
        const onUndone = (transaction: Postgres, gone: FinishedImport) =>
          importUndone(transaction, commandLine, site, gone)
        return undoImport({ postgres, clickhouse, onUndone }, site, id)
      })
      return {
        data: { id, ...undone },
        show: (terminal) =>
          `Took ${count(undone.events)} events on ${count(undone.days)} days back from ${terminal.bold(site.domain)}.`,
      }
    } catch (error) {
      if (error instanceof CannotUndo) throw new CommandError('The import was not undone.', error.message)
      throw error
    }
  },
}
