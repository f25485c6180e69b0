import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readable } from '../../src/process/log.ts'

const time = Date.parse('2026-11-15T10:20:30Z')
const clock = new Date(time).toTimeString().slice(0, 8)

test('a log line on a terminal has time, level, message and fields, without process and host', () => {
  const line = JSON.stringify({
    level: 30,
    time,
    pid: 1,
    hostname: 'h',
    metrics: 'http://m',
    days: 3,
    msg: 'Listening',
  })
  assert.equal(readable(line, 'info'), `${clock} INFO  Listening metrics=http://m days=3\n`)
})

test('an error is one line, and its stack is shown from LOG_LEVEL=debug on', () => {
  const err = { type: 'Error', message: 'refused', stack: 'Error: refused\n    at a.ts' }
  const line = JSON.stringify({ level: 50, time, msg: 'PostgreSQL does not answer', err })
  assert.equal(readable(line, 'info'), `${clock} ERROR PostgreSQL does not answer (refused)\n`)
  assert.equal(readable(line, 'debug'), `${clock} ERROR PostgreSQL does not answer (refused)\n${err.stack}\n`)
})

test('a link to open is on a line of its own, with an empty line around it', () => {
  const link = 'http://localhost:8080/setup/abc'
  const line = JSON.stringify({ level: 30, time, link, msg: 'Open within 24 hours:' })
  assert.equal(readable(line, 'info'), `${clock} INFO  Open within 24 hours:\n\n  ${link}\n\n`)
})
