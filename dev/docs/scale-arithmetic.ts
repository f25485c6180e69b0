// From what one core does here to what a million sites need: multiplication, with its assumptions in one table.
import type { ScaleResult } from '../../bench/scale/result.ts'

/** What is not measured but assumed; docs/scale.md prints it. */
export const assumed = {
  sites: { value: 1e6, meaning: 'sites' },
  eventsADay: { value: 1e10, meaning: 'events a day, all sites together' },
  requestsASite: { value: 100, meaning: 'requests a site and day: eleven times the nine reports' },
  peak: { value: 3, meaning: 'busiest second against the mean one' },
  cacheMisses: { value: 1, meaning: 'share of requests that reach the engine: all, nothing is taken off for caches' },
  keptDays: { value: 761, meaning: 'days that raw events are kept: 25 months' },
  foldedYears: { value: 5, meaning: 'years that folded days are kept' },
  replicas: { value: 2, meaning: 'copies of everything' },
  nodeCores: { value: 32, meaning: 'cores of a node' },
  nodeBytes: { value: 15e12, meaning: 'bytes of disk of a node' },
  fullest: {
    value: 0.7,
    meaning: 'share of cores and disks that is planned to be used; merges and failures need the rest',
  },
}

export interface PerCore {
  insertMicroseconds: number
  sendMicroseconds: number
  foldMicroseconds: number
  /** Of a small site, whatever it holds: one visit by the fold. */
  foldMillisecondsASite: number
  /** Answers a second and core: engine, API and the clients of the bench together. */
  answers: number
  rawBytesAnEvent: number
  foldedBytesAnEvent: number
}

export function perCore({ sizes, bytes, folding, inserting, throughput, machine }: ScaleResult): PerCore {
  return {
    insertMicroseconds: inserting.engineMicroseconds,
    sendMicroseconds: inserting.senderMicroseconds,
    foldMicroseconds: (folding.whale.cpuSeconds * 1e6) / sizes.whale,
    foldMillisecondsASite: (folding.small.cpuSeconds * 1e3) / sizes.smallSites,
    answers: throughput.today.api / machine.cores,
    rawBytesAnEvent: bytes.raw / sizes.whale,
    foldedBytesAnEvent: bytes.folded / sizes.whale,
  }
}

export interface Needs {
  eventsASecond: number
  requestsASecond: number
  cores: { inserting: number; sending: number; folding: number; foldingSites: number; answering: number }
  bytes: { raw: number; folded: number }
  nodes: { byCores: number; byDisk: number }
  shards: number
  /** Folded bytes that a day adds to one node: what its page cache should hold of the last thirty. */
  foldedBytesANodeDay: number
}

export function needsOf(one: PerCore): Needs {
  const { sites, eventsADay, requestsASite, peak, cacheMisses, keptDays, foldedYears, replicas } = assumed
  const { nodeCores, nodeBytes, fullest } = assumed
  const eventsASecond = (eventsADay.value / 86_400) * peak.value
  const requestsASecond = ((sites.value * requestsASite.value) / 86_400) * peak.value
  const copies = replicas.value
  const cores = {
    // Every replica writes what it holds.
    inserting: (eventsASecond * one.insertMicroseconds * copies) / 1e6,
    sending: (eventsASecond * one.sendMicroseconds) / 1e6,
    // A day is folded once, in the day after it and through all zones: no peak. The replica takes over the finished parts.
    folding: ((eventsADay.value / 86_400) * one.foldMicroseconds) / 1e6,
    foldingSites: ((sites.value / 86_400) * one.foldMillisecondsASite) / 1e3,
    answering: (requestsASecond * cacheMisses.value) / one.answers,
  }
  const bytes = {
    raw: eventsADay.value * one.rawBytesAnEvent * keptDays.value * copies,
    folded: eventsADay.value * one.foldedBytesAnEvent * 365 * foldedYears.value * copies,
  }
  const allCores = Object.values(cores).reduce((sum, value) => sum + value)
  const nodes = {
    byCores: Math.ceil(allCores / (nodeCores.value * fullest.value)),
    byDisk: Math.ceil((bytes.raw + bytes.folded) / (nodeBytes.value * fullest.value)),
  }
  const shards = Math.ceil(Math.max(nodes.byCores, nodes.byDisk) / copies)
  return {
    eventsASecond,
    requestsASecond,
    cores,
    bytes,
    nodes,
    shards,
    foldedBytesANodeDay: (eventsADay.value * one.foldedBytesAnEvent) / shards,
  }
}
