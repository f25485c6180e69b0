import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { type Installation, install } from '../support/installation.ts'

let installation: Installation
let footfall: Installation['footfall']
let json: Installation['json']
before(async () => {
  installation = await install()
  ;({ footfall, json } = installation)
})
after(() => installation.remove())

const today = () => new Date().toISOString().slice(0, 10)

test('notes are added, listed and removed', async () => {
  const { id } = await json('site', 'create', 'example.com')
  const empty = await footfall('note', 'list', 'example.com')
  assert.match(empty.stdout, /example\.com has no notes yet\. Next: footfall note add example\.com <text>/)
  const start = today()
  const now = await json('note', 'add', 'example.com', ' Launched the new pricing ')
  assert.ok([start, today()].includes(now.day))
  assert.deepEqual([now.text, now.cause, now.createdBy], ['Launched the new pricing', null, 'command line'])
  const added = await footfall('note', 'add', id, 'Newsletter', '--day', '2026-01-14')
  assert.equal(added.stdout, 'example.com has a new note on 2026-01-14: Newsletter\n')
  const all = await json('note', 'list', id)
  assert.deepEqual(
    all.map(({ text }: { text: string }) => text),
    ['Launched the new pricing', 'Newsletter'],
  )
  assert.match((await footfall('note', 'list', id)).stdout, /2026-01-14 +Newsletter +command line +note_\w{16}/)
  const removed = await footfall('note', 'remove', id, now.id)
  assert.equal(removed.stdout, `example.com has lost its note on ${now.day}: Launched the new pricing\n`)
  assert.deepEqual(await json('note', 'list', id), [all[1]])
})

test('mistakes say what to do', async () => {
  await json('site', 'create', 'mistakes.example')
  for (const [args, said] of [
    [['add', 'mistakes.example', 'Text', '--day', '2026-02-30'], /There is no such day\..*Write it like 2026-11-14\./s],
    [['add', 'mistakes.example', ' '], /The note is missing\./],
    [['remove', 'mistakes.example', 'note_x'], /has no note note_x\..*footfall note list mistakes\.example/s],
  ] as const) {
    const { code, stderr } = await footfall('note', ...args)
    assert.notEqual(code, 0)
    assert.match(stderr, said)
  }
})

test('an import notes itself on its first day, once; a change of zone and exclusions on the day it is made', async (t) => {
  await json('site', 'create', 'imported.example')
  const folder = mkdtempSync(join(tmpdir(), 'footfall-notes-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'visits.csv')
  const lines = ['2026-01-04T10:00:00Z', '2026-01-04T11:00:00Z', '2026-01-09T10:00:00Z'].map(
    (time) => `${time},https://imported.example/,a`,
  )
  writeFileSync(file, `${['time,url,visitor', ...lines].join('\n')}\n`)
  const imported = await footfall('import', 'imported.example', file)
  assert.equal(imported.code, 0, imported.stderr)
  await footfall('import', 'imported.example', file)
  const noted = async () =>
    (await json('note', 'list', 'imported.example')).map(
      ({ day, text, cause }: { day: string; text: string; cause: string }) => [day, text, cause],
    )
  assert.deepEqual(await noted(), [['2026-01-04', '3 imported events, until 2026-01-09', 'import']])
  await footfall('site', 'exclude-countries', 'imported.example', 'DE')
  await footfall('site', 'timezone', 'imported.example', 'Europe/Berlin')
  const changed = (await noted()).slice(0, -1).map(([, text, cause]: string[]) => [text, cause])
  assert.deepEqual(changed.toReversed(), [
    ['Excluded countries: Germany', 'exclusions'],
    ['Time zone: UTC → Europe/Berlin', 'time_zone'],
  ])
})
