// Which nights get a backup, and which backups stay: a year of nights, simulated.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { goodBackups, isDue, keptOf, lastGood, nameOf, prune } from '../../src/cli/backup-schedule.ts'
import { keep } from '../../src/config/parsers.ts'

const minutes = 60_000
const standard = keep('7d,4w,12m')
const day = (time: number) => new Date(time).toISOString().slice(0, 10)

/** What a server that looks every ten minutes has at the end. While it is off it does nothing. */
function simulate(first: string, last: string, isOff: (now: number) => boolean = () => false) {
  const [made, kept]: [number[], Set<number>] = [[], new Set()]
  for (let now = Date.parse(first); now < Date.parse(last); now += 10 * minutes) {
    if (isOff(now) || !isDue(made.at(-1), now, 3)) continue
    made.push(now)
    kept.add(now)
    const stays = keptOf([...kept], standard)
    for (const time of kept) if (!stays.has(time)) kept.delete(time)
    assert.ok(kept.has(now), 'the newest one stays')
  }
  return { made, kept: [...kept].sort((one, other) => one - other) }
}

test('after a year of nights there are seven days, four weeks and twelve months', () => {
  const { made, kept } = simulate('2026-01-01T00:00Z', '2027-01-01T00:00Z')
  // The first one at once, and from then on one each night.
  assert.deepEqual(
    made.map((time) => new Date(time).toISOString().slice(11, 16)),
    ['00:00', ...Array(365).fill('03:00')],
  )
  // A calendar of 2026: the last day of each month, the last Sundays of December, and its last seven days.
  const months = ['01-31', '02-28', '03-31', '04-30', '05-31', '06-30', '07-31', '08-31', '09-30', '10-31', '11-30']
  const weeks = ['12-13', '12-20']
  const days = ['12-25', '12-26', '12-27', '12-28', '12-29', '12-30', '12-31']
  assert.deepEqual(
    kept.map(day),
    [...months, ...weeks, ...days].map((one) => `2026-${one}`),
  )
})

test('each night of a year, the folder is pruned to what BACKUP_KEEP says', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-year-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const held = new Map<string, string[]>()
  for (let now = Date.parse('2026-01-01T03:00:09Z'); now < Date.parse('2027-01-01'); now += 1440 * minutes) {
    assert.ok(isDue(lastGood(folder, now)?.time, now, 3), day(now))
    mkdirSync(join(folder, nameOf(now)))
    writeFileSync(join(folder, nameOf(now), 'manifest.json'), '{}')
    prune(folder, standard)
    assert.ok(!isDue(lastGood(folder, now)?.time, now, 3), day(now))
    held.set(
      day(now),
      readdirSync(folder)
        .sort()
        .map((name) => name.replace(/^scheduled-2026-(.*)T03-00-09Z$/, '$1')),
    )
  }
  // By a calendar of 2026. 1 January was a Thursday: by the 7th there are seven days, and by Wednesday the 14th one week more.
  assert.deepEqual(held.get('2026-01-07'), ['01-01', '01-02', '01-03', '01-04', '01-05', '01-06', '01-07'])
  assert.deepEqual(held.get('2026-01-14'), ['01-04', '01-08', '01-09', '01-10', '01-11', '01-12', '01-13', '01-14'])
  // Sunday, 1 March: February has left its last day, and the Sundays of three weeks before this one.
  assert.deepEqual(held.get('2026-03-01'), [
    ...['01-31', '02-08', '02-15', '02-22'],
    ...['02-23', '02-24', '02-25', '02-26', '02-27', '02-28', '03-01'],
  ])
  assert.deepEqual(held.get('2026-12-31'), [
    ...['01-31', '02-28', '03-31', '04-30', '05-31', '06-30', '07-31', '08-31', '09-30', '10-31', '11-30'],
    ...['12-13', '12-20'],
    ...['12-25', '12-26', '12-27', '12-28', '12-29', '12-30', '12-31'],
  ])
})

test('each night of the year has its backup, whatever the zone of the machine does to its clock', (t) => {
  const zone = process.env.TZ
  t.after(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
  const inUtc = simulate('2026-01-01T00:00Z', '2027-01-01T00:00Z')
  for (const one of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia']) {
    process.env.TZ = one
    assert.deepEqual(simulate('2026-01-01T00:00Z', '2027-01-01T00:00Z'), inUtc, one)
  }
})

test('a night that was missed is made up as soon as the machine is on, and costs no older backup', () => {
  // Off at night from Monday to Saturday of the second week of June, and off for all of September.
  const isOff = (now: number) => {
    const time = new Date(now).toISOString()
    return (time >= '2026-06-08T01' && time < '2026-06-13T09:20') || time.startsWith('2026-09')
  }
  const { made, kept } = simulate('2026-01-01T00:00Z', '2026-10-03T00:00Z', isOff)
  const minute = (time: number) => new Date(time).toISOString().slice(0, 16)
  assert.deepEqual(
    made.map(minute).filter((time) => time > '2026-06-07' && time < '2026-06-15'),
    ['2026-06-07T03:00', '2026-06-13T09:20', '2026-06-14T03:00'],
  )
  assert.deepEqual(made.map(minute).slice(-4), [
    '2026-08-31T03:00',
    '2026-10-01T00:00',
    '2026-10-01T03:00',
    '2026-10-02T03:00',
  ])
  // Seven days with a backup, the last of four weeks with one (Monday to Sunday), and the last of every month.
  const months = ['01-31', '02-28', '03-31', '04-30', '05-31', '06-30', '07-31']
  const weeks = ['08-23']
  const days = ['08-27', '08-28', '08-29', '08-30', '08-31', '10-01', '10-02']
  assert.deepEqual(
    kept.map(minute),
    [...months, ...weeks, ...days].map((one) => `2026-${one}T03:00`),
  )
})

test('one is due once a day at the hour, and at once if there is none since', () => {
  const at = (text: string) => Date.parse(`2026-11-${text}Z`)
  assert.equal(isDue(undefined, at('18T00:00'), 3), true)
  assert.equal(isDue(at('17T03:00'), at('18T02:59'), 3), false)
  assert.equal(isDue(at('17T03:00'), at('18T03:00'), 3), true)
  assert.equal(isDue(at('18T03:00'), at('18T23:59'), 3), false)
  assert.equal(isDue(at('18T03:00'), at('19T03:00'), 3), true)
})

test('pruning removes what the rule does not keep, and nothing that it does not know', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-prune-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const make = (name: string, isGood = true) => {
    mkdirSync(join(folder, name))
    if (isGood) writeFileSync(join(folder, name, 'manifest.json'), '{}')
  }
  const nights = Array.from({ length: 400 }, (_, night) => Date.parse('2025-12-01T03:00:04Z') + night * 1440 * minutes)
  for (const night of nights) make(nameOf(night))
  const foreign = ['footfall-2026-01-01', 'scheduled-2026-01-01', 'scheduled-2026-01-01T03-00-04Z-copy', 'photos']
  for (const name of foreign) make(name)
  writeFileSync(join(folder, 'scheduled-2026-01-01T04-00-00Z'), 'a file')
  make('scheduled-2026-01-02T05-00-00Z', false) // somebody took its manifest away
  make('scheduled-2026-01-03T05-00-00Z.unfinished', false) // of a backup that was killed
  make('scheduled-2030-01-03T05-00-00Z.unfinished', false) // of a backup that runs
  const removed = prune(folder, standard)
  const stays = keptOf(nights, standard)
  assert.equal(stays.size, 7 + 2 + 10) // until Monday, 4 January 2027: two of the weeks and two of the months end within the last seven days
  assert.equal(removed.length, nights.length - stays.size)
  assert.deepEqual(
    readdirSync(folder).sort(),
    [
      ...[...stays].map(nameOf),
      ...foreign,
      'scheduled-2026-01-01T04-00-00Z',
      'scheduled-2026-01-02T05-00-00Z',
      'scheduled-2030-01-03T05-00-00Z.unfinished',
    ].sort(),
  )
  assert.deepEqual(new Set(goodBackups(folder).map(({ time }) => time)), stays)
  // A clock that was wrong once must not stop backups for years.
  assert.equal(lastGood(folder, Date.parse('2027-01-02T02:00:00Z'))?.name, 'scheduled-2027-01-01T03-00-04Z')
  assert.deepEqual(prune(folder, standard), [])
})

test('the newest good backup stays, even if all of them are old and only one is kept', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-prune-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const year of [2001, 2002, 2003]) {
    const name = nameOf(Date.parse(`${year}-01-01T03:00:00Z`))
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'manifest.json'), '{}')
  }
  // Newer, but not good.
  mkdirSync(join(folder, nameOf(Date.parse('2004-01-01T03:00:00Z'))))
  prune(folder, keep('1w'))
  assert.deepEqual(
    goodBackups(folder).map(({ name }) => name),
    ['scheduled-2003-01-01T03-00-00Z'],
  )
  assert.ok(existsSync(join(folder, 'scheduled-2004-01-01T03-00-00Z')))
})

test('BACKUP_KEEP names days, weeks and months, each once', () => {
  assert.deepEqual(keep('7d,4w,12m'), { days: 7, weeks: 4, months: 12 })
  assert.deepEqual(keep('30d'), { days: 30, weeks: 0, months: 0 })
  for (const wrong of ['', '7', '0d', '7d,7d', '7y', 'd', '7d;4w', '-1d'])
    assert.throws(() => keep(wrong), /7d,4w,12m/, wrong)
})
