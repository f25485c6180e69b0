// An installation has exact versions: packages with a hash, images with a version, Node with one version file.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { read } from './tree.ts'

interface LockEntry {
  integrity?: string
  /** A folder of this repository. */
  link?: boolean
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
}

/**
 * Development tools for platforms other than Linux with glibc on x64 and arm64: npm records only the hashes of packages it can download.
 * An installation runs none of them.
 */
const isForOtherPlatforms = ({ dev, optional, os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: LockEntry): boolean =>
  dev === true &&
  optional === true &&
  !(os.includes('linux') && (cpu.includes('x64') || cpu.includes('arm64')) && libc.includes('glibc'))

/** Written by hand, because npm could not download it where the lock file was made. Remove this as soon as it has a hash. */
const unreachable = 'node_modules/@chdb/lib-linux-arm64-gnu'

const unpinned = (text: string): string[] =>
  Object.entries((JSON.parse(text) as { packages: Record<string, LockEntry> }).packages)
    .filter(([path, entry]) => path.startsWith('node_modules/') && !entry.link)
    .filter(([, entry]) => !/^sha512-[\w+/]{86}==$/.test(entry.integrity ?? ''))
    .filter(([path, entry]) => !isForOtherPlatforms(entry) && path !== unreachable)
    .map(([path]) => path)

test('npm ci works on every platform: platform-specific packages are optional and none is for production', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockEntry> }
  const bound = Object.entries(packages).filter(([, { os, cpu, libc }]) => os ?? cpu ?? libc)
  assert.ok(bound.some(([path]) => path === 'node_modules/@chdb/lib-linux-x64-gnu'))
  assert.deepEqual(
    bound.filter(([, { dev, optional }]) => !dev || !optional).map(([path]) => path),
    [],
  )
})

for (const file of ['package-lock.json', 'tools/openapi/package-lock.json']) {
  test(`every installable package of ${file} has a hash`, () => {
    assert.ok(Object.keys(JSON.parse(read(file)).packages).length > 10)
    assert.deepEqual(unpinned(read(file)), [], 'remove them from the file and run: npm install --package-lock-only')
  })
}

test('a package with a weak hash or none is found; tools for other platforms and our own folders are accepted', () => {
  const integrity = `sha512-${'a'.repeat(86)}==`
  const packages = {
    '': {},
    'node_modules/good': { integrity },
    'node_modules/none': {},
    'node_modules/weak': { integrity: 'sha1-abc' },
    'node_modules/ours': { dev: true, optional: true, os: ['linux'], cpu: ['x64'] },
    'node_modules/arm': { dev: true, optional: true, os: ['linux'], cpu: ['arm64'], libc: ['glibc'] },
    'node_modules/linked': { link: true },
    'dev/linked': { dev: true },
    'node_modules/mac': { dev: true, optional: true, os: ['darwin'], cpu: ['arm64'] },
    'node_modules/run': { optional: true, os: ['darwin'] },
  }
  const expected = [
    'node_modules/none',
    'node_modules/weak',
    'node_modules/ours',
    'node_modules/arm',
    'node_modules/run',
  ]
  assert.deepEqual(unpinned(JSON.stringify({ packages })), expected)
})

const imagesOf = (file: string) => [...read(file).matchAll(/^ +image: (\S+)/gm)]

test('development uses the same ClickHouse and PostgreSQL versions as an installation', () => {
  const developed = imagesOf('compose.dev.yaml').map(([, image]) => image)
  const installed = imagesOf('compose.yaml').map(([, image]) => image)
  assert.deepEqual(
    installed.filter((image) => !developed.includes(image)),
    [],
  )
  const [, version] = /clickhouse-server:(\d+\.\d+\.\d+)/.exec(developed.join()) ?? []
  const library = JSON.parse(read('dev/clickhouse/package.json')).optionalDependencies['@chdb/lib-linux-x64-gnu']
  assert.equal(library.split('-')[0], version, 'ClickHouse has the same version from npm and from Docker')
})

test('images have an exact version, and the Node version is the same everywhere', () => {
  const images = [
    ...read('Dockerfile').matchAll(/^FROM (\S+)/gm),
    ...imagesOf('compose.yaml'),
    ...imagesOf('compose.dev.yaml'),
  ]
  assert.equal(images.length, 7)
  for (const [, image = ''] of images) assert.match(image, /:\d+\.\d+(\.\d+)*(-[\w-]+)?(@sha256:\w{64})?$/, image)
  const version = read('.node-version').trim()
  assert.match(read('Dockerfile'), new RegExp(`^FROM node:${version.replaceAll('.', '\\.')}-`, 'm'))
  assert.equal(JSON.parse(read('package.json')).engines.node, `>=${version.split('.')[0]}`)
})

test('neither the command nor the systemd unit downloads anything', () => {
  for (const file of ['footfall', 'deploy/footfall.service']) {
    assert.doesNotMatch(read(file).replace(/^ *(#|echo ).*$/gm, ''), /npm|npx|curl|wget|\.ci\/|XDG_CACHE_HOME/, file)
  }
})
