// What `npm run bench:peers` finds. docs/peers.json holds one result per size, and docs/peers.md is generated from it.
import type { PeerRange } from './questions.ts'

export interface PeersResult {
  bench: 'peers'
  measuredAt: string
  machine: { cpu: string; cores: number; memoryGiB: number; steal: number }
  events: number
  rounds: number
  sides: SideResult[]
  cells: Cell[]
  /** Geometric means over the questions: how many times longer the fastest other product takes. */
  timesFaster: { reports: Record<PeerRange, number>; filtered: Record<PeerRange, number> }
  /** Answers that differ without a reason. */
  unexplained: string[]
  ok: boolean
}

export interface SideResult {
  name: string
  source: string
  bytesPerEvent: number
  /** CPU of the servers per event. */
  writingMicroseconds: number
  rollingUpMicroseconds?: number
}

export interface Cell {
  question: string
  range: PeerRange
  isReport: boolean
  /** Footfall first. Those that cannot be asked are missing. */
  sides: {
    name: string
    p10: number
    median: number
    compared: number
    different: number
    percent: number
    reasons: string[]
  }[]
}
