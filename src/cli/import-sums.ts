// `footfall import` of files of daily sums.
import { basename } from 'node:path'
import type { Site } from '../accounts/sites.ts'
import type { DayRange } from '../calendar/days.ts'
import type { CheckedSums, SumsFile } from '../importing/sums/checking.ts'
import { importSums, previewSums, type SumsContext, type SumsOutcome } from '../importing/sums/job.ts'
import { dayBeforeOwnEvents } from '../importing/until.ts'
import { outboxOf } from '../mail/settings.ts'
import { whileOnItsShard } from '../moving/writing.ts'
import { commandLine } from '../users/audit-log.ts'
import { importFinished } from '../users/imports.ts'
import type { Context, Input, Output } from './command.ts'
import { leftOutText } from './left-out.ts'
import { siteOf } from './site-reference.ts'
import { showProgress, type Terminal } from './terminal.ts'

interface Given {
  site: Site
  files: readonly SumsFile[]
  /** Undefined: the day before the first event of the tracker. */
  until: string | undefined
}

export async function importDailySums(input: Input, context: Context, { site, files, until }: Given): Promise<Output> {
  const { postgres, cluster, config, progressTo } = context
  const named = files.length === 1 ? basename(files[0]?.path ?? '') : `${files.length} files`
  const progress = {
    checking: showProgress(progressTo, `Checking ${named}`, 'bytes'),
    importing: showProgress(progressTo, `Importing ${named}`, 'bytes'),
  }
  try {
    return await whileOnItsShard(postgres, site.id, async () => {
      const clickhouse = cluster.of(await siteOf(postgres, site.id))
      const given: SumsContext = {
        postgres,
        clickhouse,
        site,
        until: until ?? (await dayBeforeOwnEvents(clickhouse, site.id)),
        now: Date.now(),
        besideEvents: input.options['beside-events'] === true,
        onProgress: (reading, done, total) => progress[reading].update(done, total),
        onFinish: (transaction, imported) =>
          importFinished(transaction, commandLine, site, { ...imported, events: undefined }, outboxOf(config)),
      }
      return input.options.preview === true
        ? previewed(await previewSums(files, given), given)
        : imported(await importSums(files, given), site)
    })
  } finally {
    progress.checking.end()
    progress.importing.end()
  }
}

const count = (number: number) => number.toLocaleString('en')

function previewed({ files, lines, lists, days, leftOut, broken }: CheckedSums, { site, until }: SumsContext): Output {
  const byList = Object.fromEntries(lists.map(({ list, days }) => [list, days]))
  return {
    data: {
      files: files.map(({ path }) => path),
      kind: files[0]?.format.name,
      lines,
      days: days.length > 0 ? { first: days[0], last: days.at(-1), count: days.length } : undefined,
      lists: byList,
      leftOut: Object.fromEntries(leftOut),
      broken,
      until,
    },
    show: (terminal) =>
      [
        `${count(lines)} daily sums of ${count(days.length)} days would be imported into ${terminal.bold(site.domain)}.`,
        ...listsText(byList, terminal),
        ...leftOutText([...leftOut], broken),
        'Nothing was written.',
      ].join('\n'),
  }
}

function imported(outcome: SumsOutcome, { domain }: Site): Output {
  return {
    data: outcome,
    show: (terminal) =>
      outcome.imported === 'was'
        ? `These files are already imported into ${terminal.bold(domain)}: nothing was done.`
        : [
            `Imported ${count(outcome.lines)} daily sums of ${count(outcome.days)} days into ${terminal.bold(domain)}.`,
            ...listsText(outcome.lists, terminal),
            ...leftOutText(Object.entries(outcome.leftOut), outcome.broken),
            'Filters, hours and combinations of lists leave these days out, and say so: docs/import.md.',
            `To take it back within 30 days: footfall import undo ${domain} ${outcome.id}`,
          ].join('\n'),
  }
}

const listsText = (lists: Readonly<Record<string, readonly DayRange[]>>, terminal: Terminal): string[] => [
  terminal.table(
    ['LIST', 'DAYS'],
    Object.entries(lists).map(([list, days]) => [
      list,
      `${days[0]?.[0]} to ${days.at(-1)?.[1]}${days.length > 1 ? `, with ${days.length - 1} gaps` : ''}`,
    ]),
  ),
]
