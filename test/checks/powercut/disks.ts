// Disks that can lose power: an ext4 file system in an image on a loop device. A copy of the image, made while its writers are stopped,
// has what reached the disk and nothing that was only in memory. Needs root.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Check } from '../runner.ts'

export interface Disk {
  folder: string
  /** The disk as it would be after a power cut at this instant. */
  copy(): Disk
  remove(): void
}

export function makeDisk(check: Check, megabytes: number): Disk {
  const home = mkdtempSync(join(tmpdir(), 'footfall-powercut-'))
  check.onEnd(() => rmSync(home, { recursive: true, force: true }))
  const image = join(home, 'image')
  run('truncate', '-s', `${megabytes}M`, image)
  run('mkfs.ext4', '-q', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image)
  return mount(check, home, image, 0)
}

function mount(check: Check, home: string, image: string, number: number): Disk {
  const folder = join(home, `disk-${number}`)
  mkdirSync(folder)
  run('mount', '-o', 'loop', image, folder)
  let isMounted = true
  const remove = () => {
    if (!isMounted) return
    isMounted = false
    run('umount', '-l', folder)
    rmSync(image, { force: true })
  }
  check.onEnd(remove)
  let copies = number
  return {
    folder,
    copy() {
      copies++
      const copied = join(home, `image-${copies}`)
      run('cp', '--sparse=always', image, copied)
      return mount(check, home, copied, copies)
    },
    remove,
  }
}

/** Throws with the output of the command. */
const run = (command: string, ...words: string[]) =>
  execFileSync(command, words, { stdio: ['ignore', 'ignore', 'pipe'] })
