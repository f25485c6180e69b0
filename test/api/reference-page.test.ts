// The reference as text: what it says follows from the description, whatever paths that has.
import assert from 'node:assert/strict'
import test from 'node:test'
import { describeApi } from '../../src/api/openapi.ts'
import { type Api, endpointsOf } from '../../src/api/reference/description.ts'
import { fieldsOf } from '../../src/api/reference/fields.ts'
import { guidesOfReports } from '../../src/api/reference/guides.ts'
import { highlight } from '../../src/api/reference/highlight.ts'
import { referencePage } from '../../src/api/reference/page.ts'
import { errors } from '../../src/errors.ts'
import { countryNames } from '../../src/traffic/country.ts'

const page = referencePage(describeApi(), guidesOfReports)

const all = (pattern: RegExp, text: string): string[] => [...text.matchAll(pattern)].map(([, part]) => part as string)

const textOf = (markup: string): string =>
  markup
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_whole, number) => String.fromCharCode(Number(number)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')

const sectionOf = (id: string, whole = page): string =>
  whole.split(`<section id="${id}">`)[1]?.split('</section>')[0] ?? ''

/** The name, type, unit and meaning of a row. */
const rowOf = (id: string, whole = page): string[] =>
  all(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs, whole.split(`<tr id="${id}"`)[1]?.split('</tr>')[0] ?? '').map(textOf)

test('every permalink leads to an id that exists once', () => {
  const ids = all(/ id="([^"]+)"/g, page)
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  )
  const links = all(/ href="#([^"]+)"/g, page)
  assert.deepEqual(
    links.filter((link) => !ids.includes(link)),
    [],
  )
  assert.ok(links.length > 100)
})

test('an endpoint lists the parameters that apply to it, in the text and in the form, and no others', () => {
  const everywhere = ['range', 'start', 'end', 'country', 'device', 'hostname', 'utm_source', 'site_id']
  const parametersOf = (id: string) => {
    const markup = sectionOf(id)
    return [
      all(new RegExp(`<tr id="${id}\\.(\\w+)"`, 'g'), markup).sort(),
      all(/<(?:input|select) name="(\w+)"/g, markup.replace(/<input class="unseen"[^>]*>/g, '')).sort(),
    ]
  }
  for (const id of ['overview', 'timeseries', 'channels'])
    assert.deepEqual(parametersOf(id), [everywhere.toSorted(), everywhere.toSorted()], id)
  const limited = [...everywhere, 'limit'].sort()
  for (const id of ['pages', 'referrers', 'devices', 'geo', 'events', 'utm'])
    assert.deepEqual(parametersOf(id), [limited, limited], id)
})

test('a field has its type, its unit and its meaning', () => {
  const visitors = 'Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days.'
  assert.deepEqual(rowOf('pages.data.visitors'), ['visitors', 'integer', 'people', visitors])
  assert.deepEqual(rowOf('pages.data.pathname'), [
    'pathname',
    'string',
    '',
    'Path of the page, without query and fragment.',
  ])
  assert.deepEqual(rowOf('overview.data.current.avg_duration').slice(0, 3), ['avg_duration', 'integer', 'seconds'])
  assert.deepEqual(rowOf('overview.data.change.visitors').slice(0, 3), [
    'visitors, pageviews, sessions, bounce_rate, avg_duration',
    'number or null',
    'percent',
  ])
  assert.deepEqual(rowOf('timeseries.data.date').slice(0, 3), ['date', 'string (date)', ''])
  assert.deepEqual(rowOf('pages.meta.limit'), ['limit', 'integer', '', 'The limit that was applied.'])
  assert.equal(rowOf('overview.meta.limit').length, 0)
})

test('every error says what to do, and every country has its code and name', () => {
  for (const [code, { status, message, whatToDo }] of Object.entries(errors)) {
    const [name, shown, meaning] = rowOf(code)
    assert.deepEqual([name, shown], [code, String(status)])
    assert.equal(meaning, `${whatToDo.replaceAll('`', '')} “${message}”`)
  }
  for (const [code, name] of Object.entries(countryNames)) assert.deepEqual(rowOf(`country.${code}`), [code, name])
})

test('fields that differ in nothing but the name share a row, and objects come before what they hold', () => {
  const number = { type: 'integer', description: 'A number.', 'x-unit': 'apples' }
  const schema = {
    items: {
      properties: {
        a: { type: 'object', description: 'Both.', properties: { x: number, y: number } },
        b: { type: 'object', description: 'Both.', properties: { x: number, y: number } },
        list: { items: { type: 'object', properties: { z: { type: 'string', enum: ['one', 'two'] } } } },
      },
    },
  }
  assert.deepEqual(
    fieldsOf(schema, 'data').map(({ names, path, within, type, unit, description }) =>
      [names.join('+'), path, within.join('/'), type, unit, description].join(' | '),
    ),
    [
      'a+b | data.a |  | object |  | Both.',
      'x+y | data.a.x | a, b | integer | apples | A number.',
      'list | data.list |  | list of objects |  | ',
      'z | data.list.z | list | string |  |  One of `one`, `two`.',
    ],
  )
})

test('a path of any kind gets a section: without a key, with its own parameters, without an example', () => {
  const made: Api = {
    ...describeApi(),
    paths: {
      '/farm/allAnimals': {
        get: {
          operationId: 'farmAnimals',
          tags: ['Farm'],
          summary: 'All animals <of> the farm',
          security: [],
          parameters: [
            { name: 'cursor', description: 'Where to go on.', schema: { type: 'string' } },
            { $ref: '#/components/parameters/range' },
          ],
          responses: {
            200: {
              content: {
                'application/json': {
                  schema: {
                    type: 'object',
                    properties: {
                      data: { type: 'array', items: { properties: { name: { type: 'string' } } } },
                      meta: {},
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  }
  const [endpoint] = endpointsOf(made)
  assert.deepEqual(
    [endpoint?.title, endpoint?.path, endpoint?.needsKey],
    ['Farm animals', '/api/v1/farm/allAnimals', false],
  )
  const section = sectionOf('farmAnimals', referencePage(made, guidesOfReports))
  assert.match(section, /All animals &#60;of&#62; the farm\./)
  assert.doesNotMatch(section, /Authorization|type="password"|KEY/)
  assert.match(textOf(section), /curl "https:\/\/stats\.example\.com\/api\/v1\/farm\/allAnimals\?range=7d"/)
  assert.match(textOf(section), /await farmAnimals\(server, \{ range: '7d' \}\)/)
  assert.match(section, /<tr id="farmAnimals\.cursor">/)
  assert.match(section, /<tr id="farmAnimals\.data\.name">/)
  assert.match(section, /No example yet/)
})

test('colours change no character, and tell names, texts, numbers and words apart', () => {
  const json = '{ "a": "b\\"<", "c": -1.5, "d": null }'
  const shown = highlight('json', json).text
  assert.equal(textOf(shown), json)
  assert.deepEqual(
    [...shown.matchAll(/<span class="(\w+)">(.*?)<\/span>/g)].map(
      ([, kind, text]) => `${kind} ${textOf(text as string)}`,
    ),
    ['property "a"', 'string "b\\"<"', 'property "c"', 'number -1.5', 'property "d"', 'word null'],
  )
  const sources = [
    ['javascript', "const a = `x <`\n// 'not' a string\nawait f('é', 12)"],
    ['python', 'import os\n# it\'s\nprint("a")'],
    ['shell', 'curl -H "A: $B" \\\n  "https://x.example/?a=1&b=2"'],
  ] as const
  for (const [language, source] of sources) assert.equal(textOf(highlight(language, source).text), source)
})
