import assert from 'node:assert/strict'
import { test } from 'node:test'
import { libraryMissing, libraryPackage } from '../../dev/clickhouse/library.ts'
import { read } from '../house/tree.ts'

const platforms = [
  ['linux', 'x64', '@chdb/lib-linux-x64-gnu'],
  ['linux', 'arm64', '@chdb/lib-linux-arm64-gnu'],
  ['darwin', 'arm64', '@chdb/lib-darwin-arm64'],
  ['darwin', 'x64', '@chdb/lib-darwin-x64'],
] as const

test('each platform has its library, all of the same version, which npm installs for that platform only', () => {
  const { optionalDependencies } = JSON.parse(read('dev/clickhouse/package.json'))
  const { packages } = JSON.parse(read('package-lock.json'))
  const version = optionalDependencies['@chdb/lib-linux-x64-gnu']
  for (const [platform, arch, name] of platforms) {
    assert.equal(libraryPackage(platform, arch), name)
    assert.equal(optionalDependencies[name], version)
    const { os, cpu, optional, dev, version: locked } = packages[`node_modules/${name}`]
    assert.deepEqual(
      { os, cpu, optional, dev, locked },
      { os: [platform], cpu: [arch], optional: true, dev: true, locked: version },
    )
  }
  assert.equal(Object.keys(optionalDependencies).length, platforms.length)
})

test('a platform without a library, and a library that is not installed, are named', () => {
  const [yes, no] = [() => true, () => false]
  for (const [platform, arch, name] of platforms) {
    assert.equal(libraryMissing(platform, arch, yes), undefined)
    assert.match(libraryMissing(platform, arch, no) ?? '', new RegExp(`^${name}, .* not installed`))
  }
  for (const [platform, arch] of [
    ['win32', 'x64'],
    ['linux', 'riscv64'],
    ['freebsd', 'arm64'],
  ] as const)
    assert.match(libraryMissing(platform, arch, yes) ?? '', new RegExp(`macOS.*this is ${platform} ${arch}\\.$`))
})
