// A ClickHouse server in one process: `libchdb.so` from npm holds the whole `clickhouse local` program, which can listen.
// Run as a child with --experimental-ffi; server.ts does that. It blocks here until its standard input closes, so the
// engine ends when its parent does and leaves no orphan.

import { dlopen, getRawPointer, toString as readString } from 'node:ffi'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const library = join(dirname(createRequire(import.meta.url).resolve('@chdb/lib-linux-x64-gnu')), 'libchdb.so')
const { functions } = dlopen(library, {
  chdb_query_cmdline: { arguments: ['int32', 'pointer'], return: 'pointer' },
  chdb_result_error: { arguments: ['pointer'], return: 'pointer' },
})

const strings = ['clickhouse', ...process.argv.slice(2)].map((argument) => Buffer.from(`${argument}\0`))
const pointers = new BigUint64Array(strings.length + 1)
strings.forEach((string, index) => {
  pointers[index] = getRawPointer(string)
})

const result = functions.chdb_query_cmdline(strings.length, getRawPointer(pointers))
const error = functions.chdb_result_error(result)
if (error)
  process.stderr.write(`${readString(error)}\n`)
  // Leaving through Node's exit handlers races with the engine's own threads and can crash on the way out.
;(process as unknown as { reallyExit(code: number): never }).reallyExit(error ? 1 : 0)
