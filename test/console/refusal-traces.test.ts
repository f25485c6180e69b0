// What an attack on the console leaves behind: a line of the log, a counter, and a warning for the person whose password is known.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { traceRefusals } from '../../src/console/refusal-traces.ts'
import { commandLine } from '../../src/users/audit-log.ts'
import { turnOnSecondFactor } from '../../src/users/second-factor.ts'
import { codeAt, newTotpSecret, stepAt } from '../../src/users/totp.ts'
import { keySecrets } from '../support/stores.ts'
import { entriesOf, openConsole, password } from './console.ts'

interface Line {
  level: number
  refused: string
  count: number
  address: string
  msg: string
}

const warning = 40

async function countersOf(registry: Registry): Promise<Record<string, number>> {
  const text = await registry.getSingleMetricAsString('footfall_console_refused_total')
  const found = Array.from(text.matchAll(/\{reason="(\w+)"\} (\d+)/g), ([, reason, count]) => [reason, Number(count)])
  return Object.fromEntries(found.filter(([, count]) => count !== 0))
}

test('240 wrong passwords are one line of the log and 240 in the metrics, and so is every other kind of refusal', async (t) => {
  const written: string[] = []
  const console = await openConsole(t, { log: { write: (line) => void written.push(line) } })
  const stranger = console.stranger()
  const from = { 'X-Forwarded-For': '198.51.100.77' }
  const wrong = () =>
    stranger.post('/login', '/login', { email: `${randomUUID()}@example.com`, password: 'a wrong password' }, from)
  const statuses = new Map<number, number>()
  for (let index = 0; index < 240; index++) {
    const { status } = await wrong()
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  await stranger.get(`/share/${randomBytes(32).toString('base64url')}`, from)
  await stranger.get(`/reset/${randomBytes(32).toString('base64url')}`, from)
  await stranger.post('/login', '/login', { token: 'x', email: 'a@example.com', password }, from)
  await stranger.get('/nothing-here', from) // says nothing about an attack
  assert.deepEqual(await countersOf(console.registry), {
    wrong_password: statuses.get(401),
    too_many: statuses.get(429),
    closed_link: 1,
    spent_link: 1,
    foreign_form: 1,
  })
  const lines = written.map((line) => JSON.parse(line) as Line).filter(({ refused }) => refused)
  assert.deepEqual(
    lines.map(({ level, refused, count, address }) => [level, refused, count, address]),
    ['wrong_password', 'too_many', 'closed_link', 'spent_link', 'foreign_form'].map((kind) => [
      warning,
      kind,
      1,
      '198.51.100.0',
    ]),
  )
  assert.doesNotMatch(written.join(''), /198\.51\.100\.77|@example\.com/)
})

test('a kind has one line a minute, with how often and the last address', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lines: Line[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const { note } = traceRefusals(new Registry(), log)
  const told = () => lines.splice(0).map(({ refused, count, address }) => [refused, count, address])
  note('wrong_password', '192.0.2.1')
  note('wrong_password', '192.0.2.1')
  note('wrong_password', '2001:db8:1:2::3')
  note('busy', '192.0.2.1')
  assert.deepEqual(told(), [
    ['wrong_password', 1, '192.0.2.0'],
    ['busy', 1, '192.0.2.0'],
  ])
  t.mock.timers.tick(59_999)
  assert.deepEqual(told(), [])
  t.mock.timers.tick(1)
  assert.deepEqual(told(), [['wrong_password', 2, '2001:db8:1::']])
  t.mock.timers.tick(60_000)
  assert.deepEqual(told(), [])
  note('wrong_password', '192.0.2.1')
  assert.deepEqual(told(), [['wrong_password', 1, '192.0.2.0']])
})

test('whoever types a right password and a wrong code leaves an entry, which the person sees until the password is changed', async (t) => {
  const console = await openConsole(t)
  const [user, other] = [await console.addUser('owner'), await console.signedIn('owner')]
  const secret = newTotpSecret()
  const { postgres } = console.stores
  await turnOnSecondFactor(postgres, undefined, keySecrets, commandLine, user, { secret, step: 0 })
  const { email } = user
  const wrongCode = async (address: string) => {
    const attacker = console.stranger()
    await attacker.post('/login', '/login', { email, password }, { 'X-Forwarded-For': address })
    return attacker.post('/login', '/login', { code: '000000' }, { 'X-Forwarded-For': address })
  }
  for (const address of ['203.0.113.5', '198.51.100.6']) assert.equal((await wrongCode(address)).status, 401)
  assert.deepEqual(await entriesOf(console, email), [
    ['command line', 'user.second_factor_on', '', ''],
    ['somebody', 'user.wrong_code', '', '203.0.113.0'],
    ['somebody', 'user.wrong_code', '', '198.51.100.0'],
  ])
  assert.equal((await countersOf(console.registry)).wrong_code, 2)

  const person = console.stranger()
  await person.post('/login', '/login', { email, password })
  assert.equal((await person.post('/login', '/login', { code: codeAt(secret, stepAt(Date.now())) })).status, 303)
  const seen = (await person.get('/account/security')).text
  assert.match(seen, /Somebody typed your password and a wrong code<\/b> 2 times, last <time/)
  assert.match(seen, /from 198\.51\.100\.0\.\nIf that was not you, somebody knows your password: change it here/)
  assert.doesNotMatch((await other.get('/account/security')).text, /wrong code/)
  assert.match(
    (await other.get('/account/audit')).text,
    new RegExp(`somebody</td><td>typed the right password, but a wrong code: <b>${email}`),
  )

  const chosen = 'another horse battery staple'
  const changed = { password, 'new-password': chosen, 'repeated-password': chosen }
  assert.equal((await person.post('/account/security', '/account/password', changed)).status, 303)
  assert.doesNotMatch((await person.get('/account/security')).text, /wrong code/)
})
