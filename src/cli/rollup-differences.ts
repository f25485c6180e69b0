import { keptDifferences } from '../recounting/differences.ts'
import { type Command, positionals, text } from './command.ts'
import { siteOf } from './site-reference.ts'

export const differences: Command = {
  summary: 'Show the answers that differed from their events when they were recounted',
  usage: '[--site <site>]',
  options: { site: { type: 'string' } },
  optionHelp: { site: 'only this site, by domain or id' },
  examples: ['footfall rollup differences', 'footfall rollup differences --json'],
  async run(input, { postgres }) {
    positionals(input, [])
    const named = text(input, 'site')
    const site = named === undefined ? undefined : await siteOf(postgres, named)
    const found = await keptDifferences(postgres, site?.id)
    return {
      data: found,
      show: (terminal) =>
        found.length === 0
          ? 'No answer differed.'
          : [
              terminal.table(
                ['Site', 'Found', 'Repaired', 'Row', 'Recounted', 'Answered', 'Request'],
                found.map(({ domain, foundAt, repairedAt, differing: [first], request }) => [
                  domain,
                  minuteOf(foundAt),
                  repairedAt ? minuteOf(repairedAt) : 'not yet',
                  first?.row ?? '',
                  numbersOf(first?.recounted),
                  numbersOf(first?.answered),
                  request,
                ]),
              ),
              '',
              'With --json you get all differing rows and the statements of both.',
            ].join('\n'),
    }
  },
}

const minuteOf = (time: Date): string => time.toISOString().slice(0, 16).replace('T', ' ')

const numbersOf = (row: Readonly<Record<string, number>> | null | undefined): string =>
  row
    ? Object.entries(row)
        .map(([name, number]) => `${name} ${number.toLocaleString('en')}`)
        .join(', ')
    : 'no row'
