// What a user agent says about a client: whether it is a bot, and the families of browser and system.
import Bowser from 'bowser'
import { isbot } from 'isbot'
import { LRUCache } from 'lru-cache'
import { minuteMs } from '../durations.ts'

export interface Agent {
  isBot: boolean
  /** Families without versions; `Unknown` if not recognised. */
  browser: string
  os: string
}

const unknownFamily = 'Unknown'

/**
 * A few hundred user agents make up nearly all traffic, and reading one costs 40 us under load, a third of everything an event costs. No
 * user agent stays longer than a minute (docs/privacy.md).
 */
const agents = new LRUCache<string, Agent>({ max: 1_000, ttl: minuteMs, ttlAutopurge: true, memoMethod: readAgent })

export const agentOf = (userAgent: string): Agent => agents.memo(userAgent)

/** A client without a user agent counts as a bot too. */
export const isBot = (userAgent: string): boolean => userAgent.trim() === '' || isbot(userAgent)

function readAgent(userAgent: string): Agent {
  if (isBot(userAgent)) return { isBot: true, browser: unknownFamily, os: unknownFamily }
  const parser = Bowser.getParser(userAgent, true)
  return {
    isBot: false,
    browser: known(parser.getBrowserName(), browsers),
    os: known(parser.getOSName(), systems),
  }
}

const browsers: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP))
const systems: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP))

/** For a client that it does not know, bowser returns a part of the user agent, which may be anything: a name, or a version. */
const known = (family: string, families: ReadonlySet<string>): string => (families.has(family) ? family : unknownFamily)
