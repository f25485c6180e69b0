// Reads the options of `footfall stats`, finds the site, and shows the answers in the requested format.
import { ApiError } from '../../errors.ts'
import { parameterNames, readParameters } from '../../stats/parameters.ts'
import type { StatsParameters } from '../../stats/report.ts'
import type { SourceSite } from '../../stats/source.ts'
import { CommandError, type Context, type Input, type Output, text } from '../command.ts'
import { printable } from '../printable.ts'
import type { SitesSource } from '../sites-source.ts'
import { openSource } from '../source.ts'
import { readAnswers } from './answers.ts'
import { drawSite, drawSites } from './drawing.ts'
import { nearest } from './nearest.ts'
import {
  type Asked,
  askedBy,
  asksQuestion,
  leftOut,
  questionData,
  questionOptions,
  questionTable,
  readAsked,
} from './question.ts'
import { drawQuestion } from './question-drawing.ts'
import { csvOf, dataOf, sitesTable, siteTable, type Table, tsvOf } from './tables.ts'
import { type Drawing, watch, watchSeconds } from './watching.ts'

type Shown = Output & Drawing
type Read = (source: SitesSource, signal?: AbortSignal) => Promise<Shown>

/** Turns a refusal of the API into an error of the command, because it is about an option. */
export const showStats = (input: Input, context: Context): Promise<Output> =>
  perform(input, context).catch((error) => {
    throw error instanceof ApiError ? new CommandError(printable(error.message), 'See: footfall stats --help') : error
  })

async function perform(input: Input, context: Context): Promise<Output> {
  refuseContradictions(input, context)
  const parameters = asksQuestion(input) ? askedBy(input) : parametersOf(input)
  const source = openSource(input, context)
  const read =
    'ofAll' in parameters
      ? await readQuestion(input, parameters, context, source())
      : input.options['all-sites']
        ? readSites(input, parameters, context)
        : await readSite(input, parameters, context, source())
  if (!input.options.watch) return read(source())
  const every = text(input, 'url') === undefined ? watchSeconds.local : watchSeconds.remote
  return watch(process.stdout, context.terminal, every, (signal) => read(source(), signal))
}

function refuseContradictions({ positionals, options }: Input, { terminal }: Context): void {
  const refuse = (isWrong: unknown, message: string, hint = 'See: footfall stats --help') => {
    if (isWrong) throw new CommandError(message, hint)
  }
  refuse(positionals.length > 1, 'This command shows one site.', 'To see them all: footfall stats --all-sites')
  const allSites = options['all-sites']
  refuse(allSites && positionals.length > 0, '--all-sites takes no site.', 'Leave out the site, or --all-sites.')
  refuse(allSites && options.limit !== undefined, '--limit is for lists, and --all-sites has none.', 'Leave it out.')
  const question = questionOptions.find((name) => options[name] !== undefined)
  refuse(allSites && question, `--${question} asks about one site.`, 'Leave out --all-sites.')
  refuse(options.csv && options.json, 'The result is either CSV or JSON.', 'Leave out --csv or --json.')
  const hasDates = options.start !== undefined || options.end !== undefined
  const isOther = options.range !== undefined && options.range !== 'custom'
  refuse(hasDates && isOther, '--start and --end are for a custom range.', 'Leave out --range, or the dates.')
  refuse(options.watch && (options.csv || options.json || !terminal.isInteractive), '--watch draws on a terminal.')
}

/** The options have the names of the API's parameters. Throws its refusal if a value is wrong. */
function parametersOf({ options }: Input): StatsParameters {
  const query = new Map<string, readonly string[]>()
  for (const name of parameterNames) {
    const value = options[name.replace('_', '-')]
    if (value !== undefined) query.set(name, [String(value)])
  }
  if ((query.has('start') || query.has('end')) && !query.has('range')) query.set('range', ['custom'])
  return readParameters(query)
}

async function readSite(
  input: Input,
  parameters: StatsParameters,
  context: Context,
  source: SitesSource,
): Promise<Read> {
  const site = await findSite(source, input.positionals[0])
  return async (source, signal) => {
    const answers = await readAnswers(source, site, parameters, input.options.compare === true, signal)
    const draw: Draw = (terminal, height) => drawSite(answers, terminal, height)
    return formatted(input, context, {
      data: dataOf(answers),
      table: siteTable(answers),
      warnings: answers.warnings,
      draw,
    })
  }
}

async function readQuestion(input: Input, asked: Asked, context: Context, source: SitesSource): Promise<Read> {
  const site = await findSite(source, input.positionals[0])
  return async (source, signal) => {
    const answers = await readAsked(source, site, asked, signal)
    return formatted(input, context, {
      data: questionData(answers),
      table: questionTable(answers),
      // JSON has the number, and a drawing says it below the rows.
      warnings: [...answers.warnings, ...(input.options.json ? [] : leftOut(answers))],
      draw: (terminal, height) => drawQuestion(answers, terminal, height),
    })
  }
}

const readSites =
  (input: Input, parameters: StatsParameters, context: Context): Read =>
  async (source, signal) => {
    const compares = input.options.compare === true
    const answer = await source.overviews(parameters, signal)
    const { sites: data, warnings } = answer
    const draw: Draw = (terminal, height) => drawSites(answer, parameters, compares, terminal, height)
    return formatted(input, context, { data, table: sitesTable(data, compares), warnings, draw })
  }

type Draw = Drawing['draw']

function formatted(
  { options }: Input,
  { terminal, progressTo }: Context,
  { data, table, warnings, draw }: { data: unknown; table: Table; warnings: readonly string[]; draw: Draw },
): Shown {
  const isDrawn = terminal.isInteractive && !options.csv && !options.json
  // The drawing contains the warnings; a table cannot.
  if (!isDrawn) for (const warning of warnings) progressTo.write(`Note: ${printable(warning)}.\n`)
  return { data, draw, show: () => (options.csv ? csvOf(table) : isDrawn ? draw(terminal) : tsvOf(table)) }
}

/** The site with this domain or id; without a name, the only site. */
async function findSite(source: SitesSource, name: string | undefined): Promise<SourceSite> {
  const sites = await source.sites()
  const matches =
    name === undefined ? sites : sites.filter(({ id, domain }) => [id, domain].includes(name.toLowerCase()))
  if (matches.length === 1) return matches[0] as SourceSite
  if (sites.length === 0) throw new CommandError('There are no sites yet.', 'Next: footfall site create <domain>')
  const domains = sites.map(({ domain }) => printable(domain))
  if (name === undefined)
    throw new CommandError('Which site?', `footfall stats <site>, or --all-sites. ${some(domains)}`)
  // The error must not repeat a key.
  if (/^ff_[as]_/.test(name)) throw new CommandError('This is an API key, not a site.', `Name a site. ${some(domains)}`)
  const near = nearest(name, domains)
  throw new CommandError(
    `There is no site ${printable(name)}.`,
    near.length > 0 ? `Did you mean ${near.join(' or ')}?` : some(domains),
  )
}

const some = (domains: readonly string[]): string =>
  domains.length > 5
    ? `There are ${domains.length}: ${domains.slice(0, 5).join(', ')}, …`
    : `There ${domains.length === 1 ? 'is' : 'are'} ${domains.join(', ')}.`
