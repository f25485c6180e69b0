import type { Command } from './command.ts'

const preview: Command = {
  summary: 'Write the report that subscribers get by e-mail to a file',
  usage: '<site> [--month] [--period <first day>] --to <file>',
  options: { month: { type: 'boolean' }, period: { type: 'string' }, to: { type: 'string' } },
  optionHelp: {
    month: 'the report of a month instead of a week',
    period: 'the first day of the week or month, such as 2026-11-09; the default is the last one that is over',
    to: 'the file: its HTML part, or the text part if the name ends in .txt',
  },
  examples: [
    'footfall report preview example.com --to report.html',
    'footfall report preview example.com --month --period 2026-10-01 --to october.txt',
  ],
  async run(input, context) {
    const { previewReport } = await import('./report-preview.ts') // it would delay every other command by a third of a second
    return previewReport(input, context)
  },
}

export const report = { preview }
