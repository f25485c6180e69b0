// What an installation is made of is named exactly: packages by their hash, images by their version, Node by one file.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { read } from './tree.ts'

interface LockEntry {
  integrity?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
}

/** What development needs, and with it `npm ci`, is for Linux x64 with glibc: npm refuses every other platform (dev/clickhouse). */
const isInstalledNowhere = ({ dev, optional, os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: LockEntry): boolean =>
  dev === true && optional === true && !(os.includes('linux') && cpu.includes('x64') && libc.includes('glibc'))

const unpinned = (text: string): string[] =>
  Object.entries((JSON.parse(text) as { packages: Record<string, LockEntry> }).packages)
    .filter(([path, entry]) => path !== '' && !/^sha512-[\w+/]{86}==$/.test(entry.integrity ?? ''))
    .filter(([, entry]) => !isInstalledNowhere(entry))
    .map(([path]) => path)

for (const file of ['package-lock.json', 'tools/openapi/package-lock.json']) {
  test(`every package of ${file} that can be installed has a hash`, () => {
    assert.ok(Object.keys(JSON.parse(read(file)).packages).length > 10)
    assert.deepEqual(unpinned(read(file)), [], 'remove them from the file and run: npm install --package-lock-only')
  })
}

test('a package without a hash, or with a weak one, is found; one of a platform that npm refuses is not', () => {
  const integrity = `sha512-${'a'.repeat(86)}==`
  const packages = {
    '': {},
    'node_modules/good': { integrity },
    'node_modules/none': {},
    'node_modules/weak': { integrity: 'sha1-abc' },
    'node_modules/ours': { dev: true, optional: true, os: ['linux'], cpu: ['x64'] },
    'node_modules/mac': { dev: true, optional: true, os: ['darwin'], cpu: ['arm64'] },
    'node_modules/run': { optional: true, os: ['darwin'] },
  }
  const expected = ['node_modules/none', 'node_modules/weak', 'node_modules/ours', 'node_modules/run']
  assert.deepEqual(unpinned(JSON.stringify({ packages })), expected)
})

test('images are named by their exact version, and Node by the same version everywhere', () => {
  const images = [
    ...read('Dockerfile').matchAll(/^FROM (\S+)/gm),
    ...read('compose.yaml').matchAll(/^ +image: (\S+)/gm),
  ]
  assert.equal(images.length, 4)
  for (const [, image = ''] of images) assert.match(image, /:\d+\.\d+(\.\d+)*(-[\w-]+)?(@sha256:\w{64})?$/, image)
  const version = read('.node-version').trim()
  assert.match(read('Dockerfile'), new RegExp(`^FROM node:${version.replaceAll('.', '\\.')}-`, 'm'))
  assert.equal(JSON.parse(read('package.json')).engines.node, `>=${version.split('.')[0]}`)
})

test('neither the command nor the unit of systemd downloads anything', () => {
  for (const file of ['footfall', 'deploy/footfall.service']) {
    assert.doesNotMatch(read(file).replace(/^#.*$/gm, ''), /npm|npx|curl|wget|\.ci\/|XDG_CACHE_HOME/, file)
  }
})
