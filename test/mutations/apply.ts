import { stripTypeScriptTypes } from 'node:module'
import type { Mutation } from './mutations.ts'

/** The text with the breakage in it. Throws when the breakage no longer fits, or would be red for a reason of its own. */
export function mutated({ name, file, find, replace }: Mutation, text: string): string {
  const found = text.split(find).length - 1
  if (found !== 1) throw new Error(`${name}: its text occurs ${found} times in ${file}, and must occur once`)
  const changed = text.replace(find, () => replace)
  if (!file.endsWith('.ts')) return changed // a migration: whether it is SQL, the engine says
  try {
    stripTypeScriptTypes(changed)
  } catch (error) {
    throw new Error(`${name}: ${file} is no longer TypeScript: ${(error as Error).message}`)
  }
  return changed
}
