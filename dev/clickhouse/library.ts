// The library from npm that contains ClickHouse: one package for each platform, of which npm installs the one that fits.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** By platform and architecture, as Node calls them. Only the first one has been run (CONTRIBUTING.md). */
const packages: Readonly<Record<string, string>> = {
  'linux x64': '@chdb/lib-linux-x64-gnu',
  'linux arm64': '@chdb/lib-linux-arm64-gnu',
  'darwin arm64': '@chdb/lib-darwin-arm64',
  'darwin x64': '@chdb/lib-darwin-x64',
}

export const libraryPackage = (platform: string, arch: string): string | undefined => packages[`${platform} ${arch}`]

/** Why there is no library, or undefined if there is one. `isInstalled` says whether a package is. */
export function libraryMissing(
  platform: string,
  arch: string,
  isInstalled: (name: string) => boolean,
): string | undefined {
  const name = libraryPackage(platform, arch)
  if (!name)
    return `ClickHouse from npm is for Linux with glibc and for macOS, on x64 and arm64, and this is ${platform} ${arch}.`
  return isInstalled(name) ? undefined : `${name}, the ClickHouse from npm, is not installed; on Linux it needs glibc.`
}

const resolve = (name: string): string => createRequire(import.meta.url).resolve(name)

export const libraryMissingHere = (): string | undefined =>
  libraryMissing(process.platform, process.arch, (name) => {
    try {
      return resolve(name) !== ''
    } catch {
      return false
    }
  })

export function libraryFile(): string {
  const folder = dirname(resolve(libraryPackage(process.platform, process.arch) ?? ''))
  const names = ['libchdb.so', 'libchdb.dylib'].map((name) => join(folder, name))
  return names.find(existsSync) ?? (names[0] as string)
}
