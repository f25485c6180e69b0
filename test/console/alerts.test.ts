import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { alertsOf } from '../../src/alerts/alerts.ts'
import { entriesOf, mainOf, openConsole } from './console.ts'

const newNonce = (): string => randomBytes(16).toString('base64url')

const typed = {
  kind: 'rise',
  many_threshold: '500',
  rise_threshold: '4',
  rise_usual: '30',
  silence_threshold: '3',
  silence_usual: '20',
  mail: 'owners',
  webhooks: 'yes',
  quiet_from: '22',
  quiet_until: '7',
}

async function openAlerts(t: TestContext) {
  const console = await openConsole(t)
  const { postgres } = console.stores
  const page = `/sites/${console.domain}/settings/alerts`
  const owner = await console.signedIn('owner')
  return {
    console,
    page,
    owner,
    stored: () => alertsOf(postgres, console.siteId),
    add: (fields: Record<string, string> = {}, nonce = newNonce()) =>
      owner.post(page, page, { ...typed, nonce, ...fields }),
  }
}

test('an alert is added once for each form, with the fields of its kind, and the page shows its sentence', async (t) => {
  const { console, page, owner, add, stored } = await openAlerts(t)
  assert.match((await owner.get(page)).text, /has no alerts yet/)
  const nonce = newNonce()
  for (let times = 0; times < 2; times++)
    assert.equal((await add({}, nonce)).headers.get('location'), `${page}?done=added`)
  const [alert, ...more] = await stored()
  assert.deepEqual(more, [])
  assert.deepEqual(
    [alert?.condition, alert?.mailTo, alert?.toWebhooks, alert?.quiet, alert?.isOn, alert?.createdBy],
    [{ kind: 'rise', threshold: 4, minUsual: 30 }, 'owners', true, { from: 22, until: 7 }, false, owner.email],
  )
  const sentence = 'More than 4 times the visitors of the same hour in the last four weeks, if these are at least 30'
  const list = mainOf(await owner.get(page))
  assert.match(list, new RegExp(`${sentence}.*mail to the owners.*quiet from 22:00 until 7:00.*>off<`, 's'))
  assert.deepEqual(await entriesOf(console, console.domain), [
    [owner.email, 'alert.created', `${sentence}; mail to owners; webhooks; quiet from 22:00 to 7:00`, '127.0.0.0'],
  ])
})

test('every kind is stored with what belongs to it', async (t) => {
  const { add, stored } = await openAlerts(t)
  for (const fields of [
    { kind: 'many', many_threshold: ' 12 ' },
    { kind: 'drop', drop_threshold: '90', drop_usual: '1' },
    { kind: 'silence', silence_threshold: '72', silence_usual: '5' },
    { kind: 'missing', missing_threshold: '24', missing_usual: '10', missing_event: ' Signup ' },
  ])
    assert.equal((await add(fields)).status, 303, fields.kind)
  assert.deepEqual(
    (await stored()).map(({ condition }) => condition),
    [
      { kind: 'many', threshold: 12 },
      { kind: 'drop', threshold: 90, minUsual: 1 },
      { kind: 'silence', threshold: 72, minUsual: 5 },
      { kind: 'missing', threshold: 24, minUsual: 10, event: 'Signup' },
    ],
  )
})

test('what is wrong is refused, and what was typed comes again', async (t) => {
  const { add, stored } = await openAlerts(t)
  for (const [fields, reason] of [
    [{ kind: 'other' }, /The kind of the alert is missing/],
    [{ rise_threshold: '1' }, /from 2 to 100/],
    [{ rise_threshold: '2.5' }, /whole number/],
    [{ rise_usual: '0' }, /from 1 to 1,000,000/],
    [{ kind: 'silence', silence_threshold: '73' }, /from 1 to 72/],
    [{ kind: 'drop', drop_threshold: '91', drop_usual: '50' }, /from 1 to 90/],
    [
      { kind: 'missing', missing_threshold: '1', missing_usual: '1', missing_event: '' },
      /name of the event is missing/,
    ],
    [
      { kind: 'missing', missing_threshold: '1', missing_usual: '1', missing_event: 'pageview' },
      /Pageviews are no custom events/,
    ],
    [{ mail: 'everybody@example.com' }, /Who gets mail is missing/],
    [{ quiet_from: '22', quiet_until: '' }, /Quiet hours need/],
    [{ quiet_from: '7', quiet_until: '7' }, /Quiet hours need/],
    [{ quiet_from: '24', quiet_until: '7' }, /Quiet hours need/],
  ] as const) {
    const { status, text } = await add({ many_threshold: '4711', ...fields })
    assert.equal(status, 422, String(reason))
    assert.match(text, reason)
    assert.match(text, /name="many_threshold"[^>]*value="4711"/)
  }
  assert.deepEqual(await stored(), [])
})

test('a change begins the alert anew, the same settings do not', async (t) => {
  const { console, page, owner, add, stored } = await openAlerts(t)
  const { postgres } = console.stores
  await add()
  const id = (await stored())[0]?.id as string
  const one = `${page}/${id}`
  await postgres`
    UPDATE alerts SET is_on = true, is_told = true, began_at = now() - interval '2 hours', began_with = '{"visitors": 1234, "usual": 400}'
    WHERE id = ${id}`
  assert.match(mainOf(await owner.get(page)), />on<.*began .*2 hours ago.*with 1,234 visitors, usually 400/s)
  assert.equal((await owner.post(one, one, typed)).headers.get('location'), `${page}?done=changed`)
  assert.equal((await stored())[0]?.isOn, true)
  const { webhooks, ...others } = typed
  assert.equal((await owner.post(one, one, { ...others, rise_threshold: '5' })).status, 303)
  const [changed] = await stored()
  assert.deepEqual(
    [changed?.condition, changed?.toWebhooks, changed?.isOn, changed?.isTold, changed?.beganAt, webhooks],
    [{ kind: 'rise', threshold: 5, minUsual: 30 }, false, false, false, null, 'yes'],
  )
  const form = mainOf(await owner.get(one))
  assert.match(form, /name="rise_threshold"[^>]*value="5"/)
  assert.doesNotMatch(form, /name="webhooks"[^>]*checked/)
  assert.equal((await owner.post(one, one, { ...typed, rise_threshold: '' })).status, 422)
  assert.deepEqual(
    (await entriesOf(console, console.domain)).map(([, action]) => action),
    ['alert.created', 'alert.changed'],
  )
})

test('an alert is removed', async (t) => {
  const { console, page, owner, add, stored } = await openAlerts(t)
  await add()
  const one = `${page}/${(await stored())[0]?.id}`
  assert.equal((await owner.post(page, `${one}/remove`, {})).headers.get('location'), `${page}?done=removed`)
  assert.deepEqual([await stored(), (await owner.get(one)).status], [[], 404])
  assert.deepEqual(
    (await entriesOf(console, console.domain)).map(([, action]) => action),
    ['alert.created', 'alert.deleted'],
  )
})

test('a site has at most twenty alerts', async (t) => {
  const { add, stored } = await openAlerts(t)
  for (let index = 0; index < 20; index++) assert.equal((await add()).status, 303)
  const more = await add()
  assert.deepEqual([more.status, (await stored()).length], [422, 20])
  assert.match(more.text, /at most 20 alerts/)
})

test('a viewer sees the alerts and changes none; an alert of another site is unknown', async (t) => {
  const { console, page, owner, add, stored } = await openAlerts(t)
  await add()
  const id = (await stored())[0]?.id
  const viewer = await console.signedIn('viewer')
  const list = mainOf(await viewer.get(page))
  assert.match(list, /More than 4 times.*Owners of .* can change the alerts/s)
  assert.doesNotMatch(list, /<form|>Change</)
  assert.equal((await viewer.get(`${page}/${id}`)).status, 403)
  const other = await console.addAccount()
  const stranger = await console.signedIn('owner', other.accountId)
  assert.equal((await stranger.get(`${page}/${id}`)).status, 404)
  assert.equal((await stranger.get(`/sites/${other.domain}/settings/alerts/${id}`)).status, 404)
  assert.equal((await owner.get(`${page}/alert_aaaaaaaaaaaaaaaa`)).status, 404)
})
