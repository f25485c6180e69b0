// `sudo footfall backup --scheduled` writes into the folder of a service that runs as another user. That user can neither see nor delete
// what root keeps for itself: the backup would count as missing, and stay for ever.
import { chownSync, existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Owner {
  uid: number
  gid: number
}

/** The owner of a folder, which may not be there yet: then that of the one it will be in. */
export const ownerOf = (folder: string): Owner => (existsSync(folder) ? statSync(folder) : ownerOf(dirname(folder)))

/** Gives a file or folder, and everything in it, to the owner. Only root can. */
export function giveTo({ uid, gid }: Owner, path: string): void {
  if (process.getuid?.() !== 0) return
  chownSync(path, uid, gid)
  if (!statSync(path).isDirectory()) return
  for (const name of readdirSync(path)) giveTo({ uid, gid }, join(path, name))
}
