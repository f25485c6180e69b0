// Which file imports which, read from the text of the files.
import { posix } from 'node:path'

export interface Import {
  from: string
  /** A path of the tree, or undefined for a package. */
  to: string | undefined
  typeOnly: boolean
}

export const importForms = [
  /^import\s+(?<type>type\s+)?[\w\s{},*$]+?\sfrom\s+'(?<to>[^']+)'/gm,
  /^export\s+(?<type>type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s+from\s+'(?<to>[^']+)'/gm,
  /^import\s+'(?<to>[^']+)'/gm,
  /\bimport\(\s*'(?<to>[^']+)'\s*\)/g,
]

export function importsOf(from: string, text: string): Import[] {
  return importForms.flatMap((form) =>
    [...text.matchAll(form)].map(({ groups = {} }) => {
      const to = groups.to as string
      const inTree = to.startsWith('.') ? posix.join(posix.dirname(from), to) : undefined
      return { from, to: inTree, typeOnly: groups.type !== undefined }
    }),
  )
}
