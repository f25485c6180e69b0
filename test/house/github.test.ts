// Nothing runs .github here, so the tests check its syntax and that everything it names exists.
import assert from 'node:assert/strict'
import { existsSync, globSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { maxTouchedSeconds, parts, scriptOf, touchedBy } from '../checks/schedule.ts'
import { leftToTheNight, longTests } from '../long-tests.ts'
import { read, root } from './tree.ts'
import { rightsFaults } from './workflow-rights.ts'
import { yamlFaults } from './yaml-form.ts'

const workflows = readdirSync(new URL('.github/workflows/', root)).map((name) => `.github/workflows/${name}`)
const { scripts: all } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
const scripts = Object.keys(all)

for (const file of [...workflows, '.github/ISSUE_TEMPLATE/config.yml', 'compose.yaml', 'compose.dev.yaml']) {
  test(`${file} is well formed`, () => assert.deepEqual(yamlFaults(read(file)), []))
}

for (const file of workflows) {
  test(`${file} runs existing scripts with the Node of .node-version`, () => {
    const text = read(file)
    for (const [path] of text.matchAll(/\.ci\/\w+/g)) assert.ok(existsSync(new URL(path, root)), path)
    for (const [, script = ''] of text.matchAll(/npm run ([\w:]+)(?!\S)/g)) assert.ok(scripts.includes(script), script)
    for (const [, version] of text.matchAll(/node:(\S+)-bookworm/g)) assert.equal(version, read('.node-version').trim())
    for (const key of ['name', 'on', 'permissions', 'jobs']) assert.match(text, new RegExp(`^${key}:`, 'm'))
    const jobs = text.slice(text.indexOf('\njobs:')).match(/^ {2}\w+:$/gm) ?? []
    assert.equal(text.match(/^ {4}timeout-minutes: \d+$/gm)?.length, jobs.length, 'every job has a time limit')
  })

  test(`${file} gives each job its permissions, pins actions and leaves no token in the checkout`, () =>
    assert.deepEqual(rightsFaults(read(file)), []))
}

test('only the job that publishes a release may write, and its token is only in the step that does', () => {
  const writing = workflows.flatMap((file) =>
    [...read(file).matchAll(/^ +[\w-]+: write$/gm)].map(([line]) => file + line),
  )
  assert.deepEqual(writing, ['.github/workflows/release.yml      contents: write'])
  const [, ...withToken] = read('.github/workflows/release.yml').split('github.token')
  assert.equal(withToken.length, 1)
  assert.match(withToken[0] as string, /^ \}\}\n {8}run: gh release create /)
})

test('a job without permissions, an action without a commit and a checkout with the token are found', () => {
  const checkout = `- uses: actions/checkout@${'0123456789'.repeat(4)} # v5.0.0\n        with:\n          persist-credentials: false\n`
  const good = `permissions: {}\njobs:\n  one:\n    permissions:\n      contents: read\n    steps:\n      ${checkout}      - run: a\n`
  assert.deepEqual(rightsFaults(good), [])
  const planted: [part: string, instead: string, fault: RegExp][] = [
    ['permissions: {}\n', '', /^the workflow has permissions/],
    ['permissions: {}', 'permissions:\n  contents: write', /^the workflow has permissions/],
    ['    permissions:\n      contents: read\n', '', /^one: no permissions$/],
    ['    permissions:\n      contents: read\n', '    permissions: write-all\n', /^one: no permissions$/],
    ['        with:\n          persist-credentials: false\n', '', /^one: the checkout keeps the token$/],
    ['persist-credentials: false', 'persist-credentials: true', /^one: the checkout keeps the token$/],
    [' # v5.0.0', '', /^one: actions\/checkout@\d{40} is not a commit with its version$/],
    ['@0123456789', '@123456789', /is not a commit with its version$/],
    [`@${'0123456789'.repeat(4)} # v5.0.0`, '@v5.0.0', /^one: actions\/checkout@v5\.0\.0 is not a commit/],
    ['- run: a', '- name: a\n        uses: a/b@main', /^one: a\/b@main is not a commit/],
    ['- run: a\n', '- run: a\n  two:\n    steps:\n      - run: a\n', /^two: no permissions$/],
  ]
  for (const [part, instead, fault] of planted) {
    assert.equal(good.split(part).length, 2, part)
    assert.match(rightsFaults(good.replace(part, instead)).join('\n'), fault, instead)
  }
})

test('the nightly workflow runs every part of .ci/night and .ci/run, each in a job of its own', () => {
  const text = read('.github/workflows/nightly.yml')
  const [, list = ''] = /^ {8}part:\n((?: {10}- [\w:]+\n)+)/m.exec(text) ?? []
  const listed = [...list.matchAll(/- ([\w:]+)/g)].map(([, name]) => name)
  assert.deepEqual(
    listed,
    parts.map(({ name }) => name),
  )
  assert.match(text, /- run: \.ci\/run\n/)
  assert.match(text, /- run: \.ci\/night \$\{\{ matrix\.part \}\}\n/)
})

test('every check and benchmark runs at night in full, and nothing else does', () => {
  const long = scripts.filter((name) => name === 'test' || /^(check|bench):/.test(name))
  assert.deepEqual(parts.map(scriptOf).sort(), long.sort())
})

test('every check runs on each change, on changes of its subject, or is one of those that only the night has', () => {
  const night = ['mutations', 'dashboard', 'restore', 'rollup'] // npm test has the last three, with less traffic
  const always = [...read('.ci/run').matchAll(/check:(\w+)/g)].map(([, name]) => name as string)
  const touched = parts.filter((part) => part.touched).map(({ name }) => name)
  const checks = scripts.filter((name) => name.startsWith('check:')).map((name) => name.slice('check:'.length))
  assert.deepEqual([...always, ...touched, ...night].sort(), checks.sort())
})

/** `script arguments`, for every script that the three scripts run with arguments. */
const commands = [
  ...['.ci/quick', '.ci/run'].flatMap((file) =>
    [...read(file).matchAll(/npm (?:run --silent )?((?:check:|test)\w*) -- ([^'\n]+)/g)].map(
      ([, script, words]) => `${script} ${words}`,
    ),
  ),
  ...parts.flatMap((part) => (part.full ? [`${scriptOf(part)} ${part.full}`] : [])),
  ...parts.flatMap((part) => (part.touched ? [`${scriptOf(part)} ${part.touched.short}`] : [])),
]

/** Why the program of the script would refuse these arguments: its options are declared in its source, each with its default. */
function refusal(command: string): string | undefined {
  const [script = '', ...words] = command.split(' ')
  const [, file = ''] = / ((?:test|bench)\/\S+\.ts)/.exec(all[script] ?? '') ?? []
  const [, declared = ''] = /(?:\boptions: |readOptions\('\w+', )\{((?:[^{}]|\{[^{}]*\})*)\}/.exec(read(file)) ?? []
  const known = new Map(
    [...declared.matchAll(/'?([\w-]+)'?: (\{.*?\}|[^,\n ]+)/g)].map(([, name, usual]) => [name, usual]),
  )
  if (script.startsWith('check:')) known.set('seed', "''") // of every check (test/checks/runner.ts)
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string
    if (!word.startsWith('--') && file === 'test/run.ts') continue // a file or a folder
    const usual = known.get(word.replace(/^--/, ''))
    if (!usual) return `${script} has no option ${word}`
    if (/false|boolean/.test(usual)) continue
    const value = words[++at]
    if (value === undefined || (/^[\d_.]+$|NaN|length/.test(usual) && !/^[\d.]+$/.test(value))) {
      return `${script} ${word}: ${value} is no value for it`
    }
  }
  return undefined
}

test('every check is given arguments that it accepts', () => {
  assert.ok(commands.length > 20)
  assert.deepEqual(commands.map(refusal).filter(Boolean), [])
  for (const planted of ['check:oracle --wrolds 6', 'check:oracle --worlds six', 'check:fuzz --n', 'test --quick'])
    assert.ok(refusal(planted), planted)
})

test('a change runs the long tests of what it touches, and every path that their table names exists', () => {
  const left = leftToTheNight(['src/moving/copy.ts', 'test/demo/generate.test.ts', 'docs/routes.md'])
  const files = [
    'moving/move-site',
    'erasure/rows',
    'demo/generate',
    'console/route-matrix',
    'console/gate',
    'faults/redis',
  ]
  assert.deepEqual(
    files.filter((file) => left(`test/${file}.test.ts`)),
    ['console/gate', 'faults/redis'],
  )
  assert.equal(leftToTheNight(['README.md'])('test/stats/rounding.test.ts'), false)
  const onlyAtNight = Object.values(longTests).filter((subject) => subject.length === 0)
  const isLeft = leftToTheNight(['src/stores/clickhouse.ts'])
  assert.equal(Object.keys(longTests).filter(isLeft).length, onlyAtNight.length)
  for (const [test, subject] of Object.entries(longTests))
    for (const path of [test, ...subject]) assert.ok(globSync(`${path}*`).length > 0, path)
})

test('a change runs the checks of what it touches, and every path that the table names exists', () => {
  const names = (...files: string[]) => touchedBy(files).map(({ name }) => name)
  assert.deepEqual(names('README.md', 'src/tracker/tracker.js'), [])
  assert.deepEqual(names('src/moving/copy.ts'), ['move', 'seams'])
  assert.deepEqual(names('src/collector/spool/spool.ts'), ['collect', 'powercut', 'chaos'])
  assert.deepEqual(names('test/checks/small-box/check.ts'), ['smallbox'])
  assert.deepEqual(names('test/faults/redis.test.ts'), ['faults'])
  assert.equal(names('test/checks/runner.ts').length, parts.filter((part) => part.touched).length)
  for (const { name, touched } of parts) {
    for (const path of touched?.paths ?? []) assert.ok(existsSync(new URL(path, root)), `${name}: ${path}`)
    assert.ok((touched?.seconds ?? 0) <= maxTouchedSeconds, name)
  }
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
