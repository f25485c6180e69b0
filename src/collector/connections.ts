// How many connections may be open, of one address and altogether. Above that the one that has been without a complete request for
// longest goes: slow senders and connections that are kept for a next request, but never one that is being answered (decision D-152).
import type { Socket } from 'node:net'

export const closingReasons = ['address', 'full'] as const
export type ClosingReason = (typeof closingReasons)[number]

export interface Connections {
  opened(socket: Socket): void
  /** A whole request has come. */
  complete(socket: Socket): void
  /** Its answer is on the way, and the wait for the next request begins. */
  answered(socket: Socket): void
}

export interface ConnectionOptions {
  most: number
  /** 0: as many as there may be altogether. */
  mostPerAddress: number
  /** What the address counts as, or undefined for one that has no limit of its own: a proxy speaks for many. */
  keyOf(address: string): number | undefined
  onClosed(reason: ClosingReason): void
}

/** Those of one address, or all: how many are open, and those that wait for a complete request, the longest first. */
interface Group {
  open: number
  waiting: Set<Socket>
}

const newGroup = (): Group => ({ open: 0, waiting: new Set() })

export function createConnections({ most, mostPerAddress, keyOf, onClosed }: ConnectionOptions): Connections {
  const all = newGroup()
  const ofAddress = new Map<number, Group>()
  const ofSocket = new Map<Socket, { key: number | undefined; own: Group | undefined }>()

  function closed(socket: Socket): void {
    const known = ofSocket.get(socket)
    if (!known) return
    ofSocket.delete(socket)
    for (const group of [all, known.own]) {
      if (!group) continue
      group.open--
      group.waiting.delete(socket)
    }
    if (known.own?.open === 0) ofAddress.delete(known.key as number)
  }

  /** All may be under way: then the new one is the only one that waits. */
  function closeOne({ waiting }: Group, reason: ClosingReason): void {
    const [longest] = waiting
    if (!longest) return
    closed(longest)
    longest.destroy()
    onClosed(reason)
  }

  return {
    opened(socket) {
      const key = mostPerAddress === 0 ? undefined : keyOf(socket.remoteAddress ?? '')
      let own: Group | undefined
      if (key !== undefined) {
        own = ofAddress.get(key) ?? newGroup()
        ofAddress.set(key, own)
      }
      ofSocket.set(socket, { key, own })
      for (const group of [all, own]) {
        if (!group) continue
        group.open++
        group.waiting.add(socket)
      }
      socket.once('close', () => closed(socket))
      if (own && own.open > mostPerAddress) closeOne(own, 'address')
      if (all.open > most) closeOne(all, 'full')
    },
    complete(socket) {
      all.waiting.delete(socket)
      ofSocket.get(socket)?.own?.waiting.delete(socket)
    },
    answered(socket) {
      const known = ofSocket.get(socket)
      if (!known) return
      for (const group of [all, known.own]) {
        if (!group) continue
        group.waiting.delete(socket)
        group.waiting.add(socket)
      }
    },
  }
}
