// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
// What the tests of operating Footfall must notice: starting, ending, keys, files, and what an installation is made of.
import type { Mutation } from './mutations.ts'

const commands = 'test/cli/commands.test.ts'
const failures = 'test/cli/failures.test.ts'
const starting = 'test/faults/process-start.test.ts'
const ending = 'test/faults/process-ending.test.ts'

export const operationsMutations: Mutation[] = [
  {
    name: 'operations: serve goes on without a collector',
    file: 'src/cli/serve.ts',
    find: '      await api.stop(0) // it would keep a process alive that serves nobody\n',
    replace: '',
    caughtBy: starting,
  },
  {
    name: 'operations: a busy metrics port is thrown as it is',
    file: 'src/process/listening.ts',
    find: "    if (error.code === 'EADDRINUSE') {",
    replace: "    if (error.code === 'EADDRINUSE') throw error\n    if (error.code === 'EADDRINUSE') {",
    caughtBy: starting,
  },
  {
    name: 'operations: processes behind a busy port are replaced without end',
    file: 'src/api/processes.ts',
    find: '      if (!hasStarted && code === 1) process.exit(1)',
    replace: '      if (!hasStarted && code === 99) process.exit(1)',
    caughtBy: starting,
  },
  {
    name: 'operations: a spool that cannot be opened keeps its thread',
    file: 'src/collector/spool.ts',
    find: '    await worker.terminate()\n',
    replace: '    await new Promise(() => {})\n',
    caughtBy: starting,
  },
  {
    name: 'operations: nobody is let in while /readyz says that it is ending',
    file: 'src/process/listening.ts',
    find: '  await sleep(seconds * 1000)\n',
    replace: '  await sleep(0 * seconds)\n',
    caughtBy: ending,
  },
  {
    name: 'operations: /readyz is ready until the end',
    file: 'src/api/app.ts',
    find: '    if (isEnding()) reply.code(503)\n',
    replace: '',
    caughtBy: ending,
  },
  {
    name: 'operations: the log writes on without looking whether it can',
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
    caughtBy: 'test/unit/log.test.ts',
  },
  {
    name: 'operations: a whole key is looked up by its beginning',
    file: 'src/cli/key.ts',
    find: '  if (isKeyText(reference)) {',
    replace: '  reference = reference.slice(0, 9)\n  if (isKeyText(reference)) {',
    caughtBy: commands,
  },
  {
    name: 'operations: a key may expire before it is made',
    file: 'src/cli/key.ts',
    find: '  if (time.getTime() > Date.now()) return time\n',
    replace: '  if (time.getTime() > 0) return time\n',
    caughtBy: commands,
  },
  {
    name: 'operations: the list of keys does not say when they expire',
    file: 'src/cli/key.ts',
    find: '(stateOf(key) + expiryOf(key))',
    replace: '(stateOf(key))',
    caughtBy: commands,
  },
  {
    name: 'operations: everybody may read the file of the secret',
    file: 'src/cli/secret.ts',
    find: "{ flag: 'a', mode: 0o600 }",
    replace: "{ flag: 'a', mode: 0o644 }",
    caughtBy: commands,
  },
  {
    name: 'operations: a second secret hides the first',
    file: 'src/cli/secret.ts',
    find: 'KEY_SECRETS\\s*=/m.test(known)',
    replace: 'KEY_SECRETS\\s*=/m.test(line.slice(99))',
    caughtBy: commands,
  },
  {
    name: 'operations: doctor tells one cause several times',
    file: 'src/cli/doctor.ts',
    find: "  Migrations: ['PostgreSQL'],\n",
    replace: '',
    caughtBy: commands,
  },
  {
    name: 'operations: migrate prints what the driver of ClickHouse logs',
    file: 'src/stores/clickhouse.ts',
    find: ', log: { level: 127 } })',
    replace: ' })',
    caughtBy: failures,
  },
  {
    name: 'operations: a command waits for ever for a server that is no PostgreSQL',
    file: 'src/stores/postgres.ts',
    find: 'const answerMs = 15_000',
    replace: 'const answerMs = 1_500_000',
    caughtBy: failures,
  },
  {
    name: 'operations: half a backup is left behind',
    file: 'src/cli/backup.ts',
    find: '      rmSync(folder, { recursive: true, force: true })',
    replace: '      void rmSync',
    caughtBy: failures,
  },
  {
    name: 'operations: an outcome that cannot be printed ends in a stack trace',
    file: 'src/cli/main.ts',
    find: "  process.stdout.once('error', (error",
    replace: "  process.stdout.once('never', (error",
    caughtBy: failures,
  },
  {
    name: 'operations: a fault of order names no line',
    file: 'src/collector/import/job.ts',
    find: 'is earlier than line ${previous.line}`',
    replace: 'is earlier than the line before it`',
    caughtBy: 'test/collector/import.test.ts',
  },
  {
    name: 'operations: an unknown column is told of each line below it',
    file: 'src/collector/import/records.ts',
    find: '    if (!known.has(name))',
    replace: '    if (known.size === 0)',
    caughtBy: 'test/collector/import.test.ts',
  },
  {
    name: 'operations: fields that are not kept are not named',
    file: 'src/collector/event-route.ts',
    find: 'return ignored.length > 0 ? { ignored } : {}',
    replace: 'return ignored.length > 99 ? { ignored } : {}',
    caughtBy: 'test/collector/event-endpoint.test.ts',
  },
  {
    name: 'operations: the image takes whatever Node is newest',
    file: 'Dockerfile',
    find: 'FROM node:26.10.0-bookworm-slim AS dependencies',
    replace: 'FROM node:26-bookworm-slim AS dependencies',
    caughtBy: 'test/house/pinning.test.ts',
  },
]
