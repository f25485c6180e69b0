import type { Mutation } from './mutations.ts'

const local = 'test/cli/stats.test.ts'
const remote = 'test/cli/stats-remote.test.ts'
const terminal = 'test/cli/stats-terminal.test.ts'
const chart = 'test/cli/stats-chart.test.ts'

/** Breakages of `footfall stats`. */
export const cliStats: readonly Mutation[] = [
  {
    name: 'terminal: control characters of visitors are printed',
    file: 'src/cli/printable.ts',
    find: ".replace(obeyed, '\\ufffd')",
    replace: '',
    caughtBy: terminal,
  },
  {
    name: 'terminal: characters that change the direction of writing are printed',
    file: 'src/cli/printable.ts',
    find: ".replace(invisible, '')",
    replace: '',
    caughtBy: terminal,
  },
  {
    name: 'terminal: JSON has control characters as they are',
    file: 'src/cli/main.ts',
    find: 'printableJson(output.data)',
    replace: 'JSON.stringify(output.data ?? printableJson(null))',
    caughtBy: local,
  },
  {
    name: 'terminal: a wide character counts as one column',
    file: 'src/cli/terminal.ts',
    find: 'wide.test(character) ? 2 : 1',
    replace: 'wide.test(character) ? 1 : 1',
    caughtBy: terminal,
  },
  {
    name: 'terminal: the previous days are those of the same dates',
    file: 'src/cli/stats/answers.ts',
    find: '.subtract(back)',
    replace: '.subtract({ days: back.months ?? 1 })',
    caughtBy: local,
  },
  {
    name: 'terminal: a filter is not passed on',
    file: 'src/cli/stats/show.ts',
    find: "name.replace('_', '-')",
    replace: 'name',
    caughtBy: local,
  },
  {
    name: 'terminal: a key that is taken for a site is repeated',
    file: 'src/cli/stats/show.ts',
    find: '/^ff_[as]_/.test(name)',
    replace: '/^ff_[as]-/.test(name)',
    caughtBy: local,
  },
  {
    name: 'terminal: a redirect gets the key',
    file: 'src/cli/remote-source.ts',
    find: "redirect: 'manual'",
    replace: "redirect: 'follow'",
    caughtBy: remote,
  },
  {
    name: 'terminal: what a server says is printed as it is',
    file: 'src/cli/remote-source.ts',
    find: 'new CommandError(printable(message)',
    replace: 'new CommandError(message',
    caughtBy: remote,
  },
  {
    name: 'terminal: the end of a watch leaves the other screen on',
    file: 'src/cli/stats/watching.ts',
    find: '    for (const name of signals) process.off(name, end)\n    leave()\n',
    replace: '    for (const name of signals) process.off(name, end)\n',
    caughtBy: terminal,
  },
  {
    name: 'terminal: a day with few visitors has no bar',
    file: 'src/cli/stats/chart.ts',
    find: 'Math.max(1, filled)',
    replace: 'filled',
    caughtBy: chart,
  },
]
