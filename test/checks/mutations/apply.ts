import { stripTypeScriptTypes } from 'node:module'
import type { Mutation } from './mutations.ts'

/** Applies the breakage to the text. Throws when it no longer fits or would fail for another reason. */
export function mutated({ name, file, find, replace }: Mutation, text: string): string {
  const found = text.split(find).length - 1
  if (found !== 1) throw new Error(`${name}: its text occurs ${found} times in ${file}, but must occur once`)
  const changed = text.replace(find, () => replace)
  if (!file.endsWith('.ts')) return changed // a migration: ClickHouse checks whether it is valid SQL
  try {
    stripTypeScriptTypes(changed)
  } catch (error) {
    throw new Error(`${name}: ${file} is no longer TypeScript: ${(error as Error).message}`)
  }
  return changed
}
