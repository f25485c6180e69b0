// Where a command reads statistics: from this installation, or from a server that --url names.
import { readFileSync } from 'node:fs'
import { CommandError, type Context, type Input, text } from './command.ts'
import { localSource } from './local-source.ts'
import { type RemoteKey, remoteSource } from './remote-source.ts'
import type { SitesSource } from './sites-source.ts'

/** Each call of the returned function opens a source with the current time. */
export function openSource(input: Input, context: Context): () => SitesSource {
  const url = text(input, 'url')
  if (url !== undefined) {
    const source = remoteSource(url, keyOf(input))
    return () => source
  }
  if (text(input, 'key-file') !== undefined)
    throw new CommandError('A key is for a server, and none is named.', 'Add its address: --url https://…')
  return () => localSource(context, Date.now())
}

function keyOf(input: Input): RemoteKey {
  const file = text(input, 'key-file')
  const origin = file ?? 'FOOTFALL_KEY'
  const key = (file === undefined ? process.env.FOOTFALL_KEY : readFileSync(file, 'utf8'))?.trim()
  if (!key)
    throw new CommandError(
      file === undefined ? 'A server needs an API key.' : `${file} is empty.`,
      'Set FOOTFALL_KEY, or name a file that has the key: --key-file <file>',
    )
  // A header cannot contain other characters. The error does not repeat the key, because others may see the screen.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new CommandError(`${origin} is not an API key.`, 'A key is one word that begins with ff_s_ or ff_a_.')
  return { text: key, origin }
}
