// A ClickHouse server in one process: the library from npm contains the whole `clickhouse local` program, which can listen. server.ts runs
// it as a child with --experimental-ffi. It blocks until its standard input closes, so ClickHouse ends with its parent and leaves no
// orphan.

import { dlopen, getRawPointer, toString as readString } from 'node:ffi'
import { libraryFile } from './library.ts'

const { functions } = dlopen(libraryFile(), {
  chdb_query_cmdline: { arguments: ['int32', 'pointer'], return: 'pointer' },
  chdb_result_error: { arguments: ['pointer'], return: 'pointer' },
})

const strings = ['clickhouse', ...process.argv.slice(2)].map((argument) => Buffer.from(`${argument}\0`))
const pointers = new BigUint64Array(strings.length + 1)
strings.forEach((string, index) => {
  pointers[index] = getRawPointer(string)
})

// Ctrl-C and SIGTERM reach every process of the group, and processes that use ClickHouse need it a moment longer.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
const result = functions.chdb_query_cmdline(strings.length, getRawPointer(pointers))
const error = functions.chdb_result_error(result)
if (error)
  process.stderr.write(`${readString(error)}\n`)
  // Exiting through Node's exit handlers races with ClickHouse's own threads and can crash.
;(process as unknown as { reallyExit(code: number): never }).reallyExit(error ? 1 : 0)
