// Reads request bodies within one memory budget. A body counts from its first byte until its request is answered, because everything
// made from it (text, parsed events, lines for the spool) lives as long (decision D-153).
import type { IncomingMessage } from 'node:http'
import { Unavailable } from '../../stores/breaker.ts'
import { Refusal } from './refusals.ts'
import type { WorkQueue } from './work-queue.ts'

export interface Bodies {
  /** Passes the whole text to `use` when its turn comes. The body counts until the promise of `use` settles. */
  read<Result>(request: IncomingMessage, use: (text: string) => Promise<Result>): Promise<Result>
}

const maxBytes = 65_536
/** A normal body of 64 kB arrives in about fifty pieces. */
const maxPieces = 1_000
/** Memory that Node needs per piece, however short: a client may send one byte at a time. */
const pieceBytes = 256

interface Reading {
  /** Ends the reading because there is no room, not because of the body. */
  giveUp(): void
}

/** `budget`: bytes of all bodies together. When it is used up, the body that has been arriving longest is refused first. */
export function createBodies(budget: number, queue: WorkQueue): Bodies {
  let usedBytes = 0
  const arriving = new Set<Reading>()

  function makeRoom(own: Reading): void {
    for (const oldest of arriving) {
      if (usedBytes <= budget || oldest === own) break
      oldest.giveUp()
    }
    if (usedBytes > budget) own.giveUp()
  }

  return {
    read<Result>(request: IncomingMessage, use: (text: string) => Promise<Result>) {
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      let pieces: Buffer[] = []
      let [bytes, ownBytes] = [0, 0] // without and with the memory per piece
      /** The listeners below live as long as the connection, and a request waits for the disk; the pieces must not. */
      const takeText = (): string => {
        const text = pieces.length === 1 ? (pieces[0] as Buffer).toString() : Buffer.concat(pieces).toString()
        pieces = []
        return text
      }
      const release = (): void => {
        pieces = []
        usedBytes -= ownBytes
      }
      /** Does nothing after the end, so it gets a function: every request closes, and an error with its stack costs as much as parsing. */
      const fail = (errorOf: () => Error): void => {
        if (!arriving.delete(reading)) return
        release()
        reject(errorOf())
      }
      const reading: Reading = { giveUp: () => fail(() => new Unavailable('Too much is being read')) }
      arriving.add(reading)
      request.on('data', (piece: Buffer) => {
        if (!arriving.has(reading)) return
        pieces.push(piece)
        bytes += piece.length
        ownBytes += piece.length + pieceBytes
        usedBytes += piece.length + pieceBytes
        if (bytes > maxBytes || pieces.length > maxPieces) fail(() => new Refusal('too_large'))
        else if (usedBytes > budget) makeRoom(reading)
      })
      request.on('end', async () => {
        if (!arriving.delete(reading)) return
        try {
          resolve(await queue.run(ownBytes, () => use(takeText())))
        } catch (error) {
          reject(error)
        }
        release()
      })
      // The request broke off, so nobody reads this refusal. Node reports no end for a refused request that breaks off after its response.
      request.on('close', () => fail(() => new Refusal('invalid_body')))
      return promise
    },
  }
}
