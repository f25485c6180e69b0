// CONTRIBUTING.md is correct: every command and path exists, and the tutorial shows the file that is tested.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { read, root } from './tree.ts'

const page = read('CONTRIBUTING.md')
const { scripts, version } = JSON.parse(read('package.json')) as { scripts: Record<string, string>; version: string }

test('every command and path in CONTRIBUTING.md exists', () => {
  const commands = [...page.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name as string)
  assert.ok(commands.length > 8)
  assert.deepEqual(
    commands.filter((name) => !(name in scripts)),
    [],
  )
  const paths = [...page.matchAll(/(?<![\w./-])(?:src|test|docs|dev|migrations|\.ci|\.github)\/[\w./-]*\w/g)].map(
    ([path]) => path,
  )
  const made = [
    'src/stats/reports/weekdays.ts',
    'test/contract/reports/weekdays.test.ts',
    'test/contract/questions/weekday.test.ts',
    'test/faults/yours.test.ts',
  ]
  assert.ok(paths.length > 20)
  assert.deepEqual(
    paths.filter((path) => !made.includes(path) && !existsSync(new URL(path, root))),
    [],
  )
})

test('the report shown in CONTRIBUTING.md is the one in the patch', () => {
  const [, shown] = /```ts weekdays\n([\s\S]*?)```/.exec(page) ?? []
  const [, added = ''] = read('docs/tutorial/weekdays.patch').split('+++ b/src/stats/reports/weekdays.ts\n')
  const lines = added.split('\n').filter((line) => line.startsWith('+'))
  assert.equal(shown, `${lines.map((line) => line.slice(1)).join('\n')}\n`)
})

test('the dimension shown in CONTRIBUTING.md is the one in the patch', () => {
  const [, shown] = /```ts weekday\n([\s\S]*?)```/.exec(page) ?? []
  const lines = read('docs/tutorial/weekday-dimension.patch')
    .split('\n')
    .filter((line) => /^\+(?!\+)/.test(line))
  assert.equal(shown, `${lines.map((line) => line.slice(1)).join('\n')}\n`)
})

test('the changelog has the version of package.json: one heading for what is not released, then releases with date and link', () => {
  const changelog = read('CHANGELOG.md')
  const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading as string)
  const names = headings.map((heading, index) => {
    const [, next, released] = /^(?:([\d.]+), not released yet|\[([\d.]+)\] - \d{4}-\d\d-\d\d)$/.exec(heading) ?? []
    assert.ok(released ?? (index === 0 && next), heading)
    return { name: released ?? next, isReleased: released !== undefined }
  })
  assert.ok(names.some(({ name }) => name === version))
  // A link leads to a tag, which only a release has.
  const links = [...changelog.matchAll(/^\[(.+?)\]: /gm)].map(([, name]) => name)
  assert.deepEqual(
    links,
    names.filter(({ isReleased }) => isReleased).map(({ name }) => name),
  )
})
