// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of starting, ending, configuration and logs. */
export const process: readonly Mutation[] = [
  {
    name: 'collector: starts only with the key secrets',
    file: 'src/config.ts',
    find: "readConfigOrExit(['KEY_SECRETS', 'OIDC_CLIENT_SECRET'])",
    replace: 'readConfigOrExit()',
    caughtBy: 'test/collector/http/event-route.test.ts',
  },
  {
    name: 'retention: 24 months are accepted',
    file: 'src/config/parsers.ts',
    find: 'Number(text) < 25',
    replace: 'Number(text) < 24',
    caughtBy: 'test/config.test.ts',
  },
  {
    name: 'faults: a process that shuts down breaks requests on open connections',
    file: 'src/process/listening.ts',
    find: 'server.closeIdleConnections = () => void setTimeout(closeIdle, graceMs)',
    replace: 'server.closeIdleConnections = closeIdle',
    caughtBy: 'test/faults/process-ending.test.ts',
  },
  {
    name: 'operations: a busy metrics port throws a raw error',
    file: 'src/process/listening.ts',
    find: "    if (error.code === 'EADDRINUSE') {",
    replace: "    if (error.code === 'EADDRINUSE') throw error\n    if (error.code === 'EADDRINUSE') {",
    caughtBy: 'test/faults/process-start.test.ts',
  },
  {
    name: 'operations: connections are refused while /readyz returns 503',
    file: 'src/process/listening.ts',
    find: '  await sleep(seconds * 1000)\n',
    replace: '  await sleep(0 * seconds)\n',
    caughtBy: 'test/faults/process-ending.test.ts',
  },
  {
    name: 'operations: a write error of the log ends the process',
    file: 'src/process/log.ts',
    find: "  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})\n",
    replace: '',
    caughtBy: 'test/faults/process-limits.test.ts',
  },
  {
    name: 'operations: the log of a terminal is JSON',
    file: 'src/process/log.ts',
    find: "  return `${[at, word, msg, ...cause, ...more].join(' ')}${stack}\\n`",
    replace: '  return line',
    caughtBy: 'test/process/log.test.ts',
  },
]
