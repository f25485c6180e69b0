// Limits open connections, per address and in total. Above a limit the connection that has waited longest for a complete request is
// closed: a slow sender or an idle kept-alive connection, but never one whose request is being answered (decision D-152).
import type { Socket } from 'node:net'

export const closingReasons = ['address', 'full'] as const
export type ClosingReason = (typeof closingReasons)[number]

export interface Connections {
  opened(socket: Socket): void
  /** The whole request has arrived. */
  complete(socket: Socket): void
  /** The response is sent, and the wait for the next request begins. */
  answered(socket: Socket): void
}

export interface ConnectionOptions {
  max: number
  /** 0: no limit per address. */
  maxPerAddress: number
  /** The key under which an address is counted. Undefined for a proxy: it stands for many clients, so it has no limit. */
  keyOf(address: string): number | undefined
  onClosed(reason: ClosingReason): void
}

/** The connections of one address, or all: how many are open, and which wait for a complete request, longest first. */
interface Group {
  open: number
  waiting: Set<Socket>
}

const newGroup = (): Group => ({ open: 0, waiting: new Set() })

export function createConnections({ max, maxPerAddress, keyOf, onClosed }: ConnectionOptions): Connections {
  const all = newGroup()
  const ofAddress = new Map<number, Group>()
  const ofSocket = new Map<Socket, { key: number | undefined; own: Group | undefined }>()

  function closed(socket: Socket): void {
    const entry = ofSocket.get(socket)
    if (!entry) return
    ofSocket.delete(socket)
    for (const group of [all, entry.own]) {
      if (!group) continue
      group.open--
      group.waiting.delete(socket)
    }
    if (entry.own?.open === 0) ofAddress.delete(entry.key as number)
  }

  /** Closes the connection that has waited longest: the new one, if all others are being answered. */
  function closeOne({ waiting }: Group, reason: ClosingReason): void {
    const [longest] = waiting
    if (!longest) return
    closed(longest)
    longest.destroy()
    onClosed(reason)
  }

  return {
    opened(socket) {
      const key = maxPerAddress === 0 ? undefined : keyOf(socket.remoteAddress ?? '')
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
      if (own && own.open > maxPerAddress) closeOne(own, 'address')
      if (all.open > max) closeOne(all, 'full')
    },
    complete(socket) {
      all.waiting.delete(socket)
      ofSocket.get(socket)?.own?.waiting.delete(socket)
    },
    answered(socket) {
      const entry = ofSocket.get(socket)
      if (!entry) return
      for (const group of [all, entry.own]) {
        if (!group) continue
        group.waiting.delete(socket)
        group.waiting.add(socket)
      }
    },
  }
}
