// Nothing runs .github here, so the tests check its syntax and that everything it names exists.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { read, root } from './tree.ts'
import { yamlFaults } from './yaml-form.ts'

const workflows = readdirSync(new URL('.github/workflows/', root)).map((name) => `.github/workflows/${name}`)
const scripts = Object.keys(JSON.parse(read('package.json')).scripts)

for (const file of [...workflows, '.github/ISSUE_TEMPLATE/config.yml', 'compose.yaml', 'compose.dev.yaml']) {
  test(`${file} is well formed`, () => assert.deepEqual(yamlFaults(read(file)), []))
}

for (const file of workflows) {
  test(`${file} runs existing scripts with the Node of .node-version and declares its permissions`, () => {
    const text = read(file)
    for (const [path] of text.matchAll(/\.ci\/\w+/g)) assert.ok(existsSync(new URL(path, root)), path)
    for (const [, script = ''] of text.matchAll(/npm run ([\w:]+)(?!\S)/g)) assert.ok(scripts.includes(script), script)
    for (const [, version] of text.matchAll(/node:(\S+)-bookworm/g)) assert.equal(version, read('.node-version').trim())
    for (const [, action] of text.matchAll(/uses: (\S+)/g)) assert.match(action ?? '', /@v\d+\.\d+\.\d+$/)
    for (const key of ['name', 'on', 'permissions', 'jobs']) assert.match(text, new RegExp(`^${key}:`, 'm'))
    const jobs = text.slice(text.indexOf('\njobs:')).match(/^ {2}\w+:$/gm) ?? []
    assert.equal(text.match(/^ {4}timeout-minutes: \d+$/gm)?.length, jobs.length, 'every job has a time limit')
  })
}

test('the nightly run has every long check and no others', () => {
  const [, list = ''] = /^ {8}check:\n((?: {10}- \w+\n)+)/m.exec(read('.github/workflows/nightly.yml')) ?? []
  const listed = [...list.matchAll(/- (\w+)/g)].map(([, name]) => `check:${name}`)
  const inCi = ['check:readme'] // its longest form already runs in .ci/run
  assert.deepEqual(listed, scripts.filter((name) => name.startsWith('check:') && !inCi.includes(name)).sort())
})

test('every issue template has a name and a description', () => {
  const files = readdirSync(new URL('.github/ISSUE_TEMPLATE/', root)).filter((name) => name.endsWith('.md'))
  assert.deepEqual(files.sort(), ['bug.md', 'feature.md', 'wrong-number.md'])
  for (const file of files) {
    assert.match(read(`.github/ISSUE_TEMPLATE/${file}`), /^---\nname: \w.+\nabout: \w.+\nlabels: \w.+\n---\n\n/)
  }
})

test('invalid YAML is found', () => {
  const planted: [text: string, fault: RegExp][] = [
    ['a:\n\tb: 1', /^2: a tab/],
    ['a:\n   b: 1', /^2: indented by an odd/],
    ['a: 1\n  b: 2', /^2: deeper than/],
    ['a: 1\nb: 2\na: 3', /^3: a a second time/],
    ['a:\n  - b: 1\n    b: 2', /^3: b a second time/],
    ["a: 'b", /^1: a quote/],
    ['a: [b, {c: d]', /^1: a quote or bracket/],
    ['a: b: c', /^1: a colon/],
    ['a:\n  b', /^2: neither/],
  ]
  for (const [text, fault] of planted) assert.match(yamlFaults(text).join('\n'), fault, text)
  const good =
    'a: |\n  any: [thing\n   goes\nb:\n  - c: 1\n    d: 2\n  - c: 3\n\n# e: f\ng: [h, "i: j"] # k\nl: { m: [n] }\n'
  assert.deepEqual(yamlFaults(good), [])
})
