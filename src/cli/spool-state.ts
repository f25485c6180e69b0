import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { unusableSpool } from '../collector/spool/spool.ts'
import type { Context } from './command.ts'

/** For `footfall doctor`: whether this user could create the spool folder, or write to it. Throws the reason why not. */
export async function spoolState({
  config: { SPOOL_FOLDER: folder },
}: Context): Promise<{ state: 'ok'; found: string }> {
  const nearest = nearestOf(folder)
  const refuse = (reason: string) => unusableSpool(`The spool folder ${folder} cannot be created: ${reason}`)
  if (!statSync(nearest).isDirectory()) throw refuse(`${nearest} is not a folder`)
  try {
    accessSync(nearest, constants.W_OK)
  } catch (error) {
    throw refuse((error as Error).message)
  }
  return { state: 'ok', found: `${folder} ${nearest === folder ? 'can be written' : 'can be created'}` }
}

/** The path itself, or the part of it that is there. */
const nearestOf = (path: string): string => (existsSync(path) ? path : nearestOf(dirname(path)))
