// Computes from the measurements of one core what a million sites need. It is only multiplication; the assumptions are in one table.
import type { ScaleResult } from '../../bench/scale/result.ts'

/** The values that are assumed and not measured; docs/scale.md prints them. */
export const assumed = {
  sites: { value: 1e6, meaning: 'sites' },
  eventsADay: { value: 1e10, meaning: 'events per day, all sites together' },
  requestsASite: { value: 100, meaning: 'requests per site and day: eleven times the nine reports' },
  peak: { value: 3, meaning: 'load of the busiest second against the mean' },
  cacheMisses: { value: 1, meaning: 'share of requests that reach ClickHouse: all, without any cache' },
  keptDays: { value: 761, meaning: 'days that raw events are kept: 25 months' },
  rollupYears: { value: 5, meaning: 'years that rolled-up days are kept' },
  replicas: { value: 2, meaning: 'copies of everything' },
  nodeCores: { value: 32, meaning: 'cores per node' },
  nodeBytes: { value: 15e12, meaning: 'bytes of disk per node' },
  fullest: {
    value: 0.7,
    meaning: 'share of cores and disks to use; merges and failures need the rest',
  },
  jsonBytes: { value: 340, meaning: 'bytes of an event on its way from a collector to ClickHouse, as JSON' },
  nodePrice: { value: 600, meaning: 'euros per month for a node of ClickHouse' },
  corePrice: { value: 10, meaning: 'euros per month for a core of a collector' },
}

/** Measured with the same tables by other commands than bench:scale. */
export const measuredElsewhere = {
  collectMicroseconds: { value: 142, by: 'check:collect' },
  smallSiteMilliseconds: { value: 4.5, by: 'bench:rollup' },
}

export interface PerCore {
  insertMicroseconds: number
  /** A collector receives an event over HTTP and stores it on disk. */
  collectMicroseconds: number
  sendMicroseconds: number
  rollupMicroseconds: number
  /** One of many small sites that are rolled up with the same statements. */
  rollupMillisecondsPerSite: number
  /** Responses per second and core; ClickHouse, the API and the clients of the bench share the cores. */
  answers: number
  rawBytesAnEvent: number
  rollupBytesPerEvent: number
}

export function perCore({ sizes, bytes, rollups, inserting, throughput, machine }: ScaleResult): PerCore {
  return {
    collectMicroseconds: measuredElsewhere.collectMicroseconds.value,
    insertMicroseconds: inserting.clickhouseMicroseconds,
    sendMicroseconds: inserting.senderMicroseconds,
    rollupMicroseconds: (rollups.whale.cpuSeconds * 1e6) / sizes.whale,
    rollupMillisecondsPerSite: measuredElsewhere.smallSiteMilliseconds.value,
    answers: throughput.today.api / machine.cores,
    rawBytesAnEvent: bytes.raw / sizes.whale,
    rollupBytesPerEvent: bytes.rolledUp / sizes.whale,
  }
}

export interface Needs {
  eventsASecond: number
  requestsASecond: number
  /** Of the nodes of ClickHouse. */
  cores: { inserting: number; rollups: number; rollupSites: number; answering: number }
  /** Of the collectors, with the share that stays free. */
  collectorCores: number
  /** Bytes per second in the busiest second. */
  network: { toClickHouse: number; toReplicas: number }
  bytes: { raw: number; rolledUp: number }
  nodes: { byCores: number; byDisk: number }
  shards: number
  /** Euros for a billion events, with everything that is kept of earlier ones. */
  billPerBillion: number
  /** Bytes of rollups that one day adds to a node. Its page cache should hold the last thirty days. */
  rollupBytesPerNodeDay: number
}

export function needsOf(one: PerCore): Needs {
  const { sites, eventsADay, requestsASite, peak, cacheMisses, keptDays, rollupYears, replicas } = assumed
  const { nodeCores, nodeBytes, fullest } = assumed
  const eventsASecond = (eventsADay.value / 86_400) * peak.value
  const requestsASecond = ((sites.value * requestsASite.value) / 86_400) * peak.value
  const copies = replicas.value
  const cores = {
    // Every replica writes its own copy.
    inserting: (eventsASecond * one.insertMicroseconds * copies) / 1e6,
    // A day is rolled up once, during the next day, zone by zone, so there is no peak. A replica copies the finished parts.
    rollups: ((eventsADay.value / 86_400) * one.rollupMicroseconds) / 1e6,
    rollupSites: ((sites.value / 86_400) * one.rollupMillisecondsPerSite) / 1e3,
    answering: (requestsASecond * cacheMisses.value) / one.answers,
  }
  const bytes = {
    raw: eventsADay.value * one.rawBytesAnEvent * keptDays.value * copies,
    rolledUp: eventsADay.value * one.rollupBytesPerEvent * 365 * rollupYears.value * copies,
  }
  const allCores = Object.values(cores).reduce((sum, value) => sum + value)
  const nodes = {
    byCores: Math.ceil(allCores / (nodeCores.value * fullest.value)),
    byDisk: Math.ceil((bytes.raw + bytes.rolledUp) / (nodeBytes.value * fullest.value)),
  }
  const shards = Math.ceil(Math.max(nodes.byCores, nodes.byDisk) / copies)
  const collectorCores = Math.ceil(
    (eventsASecond * (one.collectMicroseconds + one.sendMicroseconds)) / 1e6 / fullest.value,
  )
  const monthlyBill = shards * copies * assumed.nodePrice.value + collectorCores * assumed.corePrice.value
  return {
    collectorCores,
    network: {
      toClickHouse: eventsASecond * assumed.jsonBytes.value,
      toReplicas: eventsASecond * one.rawBytesAnEvent * (copies - 1),
    },
    billPerBillion: monthlyBill / ((eventsADay.value * 30) / 1e9),
    eventsASecond,
    requestsASecond,
    cores,
    bytes,
    nodes,
    shards,
    rollupBytesPerNodeDay: (eventsADay.value * one.rollupBytesPerEvent) / shards,
  }
}
