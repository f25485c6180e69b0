// Environment -> typed configuration, read once by the mains. One table is the type, the check and docs/configuration.md.
import { isIP } from 'node:net'
import type { KeySecrets } from './accounts/keys.ts'

interface Variable<Value> {
  description: string
  /** What stands in for an unset variable; without it the variable is required. */
  default?: string
  /** May stay unset, and is then undefined. */
  optional?: boolean
  /** Returns the value, or throws an Error that says what is expected. */
  parse(text: string): Value
}

const variable = <const Definition extends Variable<unknown>>(definition: Definition) => definition

export const variables = {
  DATABASE_URL: variable({
    description: 'PostgreSQL: accounts, sites, keys.',
    default: 'postgres://postgres@127.0.0.1:5432/footfall',
    parse: url('postgres:', 'postgresql:'),
  }),
  CLICKHOUSE_URL: variable({
    description: 'ClickHouse over HTTP: events. User, password and, as the path, the database.',
    default: 'http://footfall:footfall@127.0.0.1:8123/footfall',
    parse: url('http:', 'https:'),
  }),
  REDIS_URL: variable({
    description:
      'Redis: rate limits shared by all API processes. Unset, a process counts by itself: right for one process.',
    optional: true,
    parse: url('redis:', 'rediss:'),
  }),
  KEY_SECRETS: variable({
    description:
      'Secrets that key hashes are made with, as version:secret with at least 32 characters each, the current one first: `2:…,1:…`. Losing them loses every key. A collector by itself needs none.',
    parse: keySecrets,
  }),
  API_PROCESSES: variable({
    description:
      'How many processes `npm start` runs behind one port, about one a core. More than one need REDIS_URL, or each would allow the whole rate limit. Their metrics are on the ports from METRICS_PORT on.',
    default: '1',
    parse: processes,
  }),
  HOST: variable({ description: 'Address the API listens on.', default: '127.0.0.1', parse: (text) => text }),
  PORT: variable({ description: 'Port the API listens on.', default: '8080', parse: port }),
  METRICS_HOST: variable({
    description: 'Address of /metrics, apart from the public port.',
    default: '127.0.0.1',
    parse: (text) => text,
  }),
  METRICS_PORT: variable({ description: 'Port of /metrics.', default: '9090', parse: port }),
  ANSWER_CACHE_MB: variable({
    description:
      'Memory for answers that an API process gives again instead of asking ClickHouse, in MB; 0 asks for every request.',
    default: '64',
    parse: megabytes,
  }),
  RETENTION_MONTHS: variable({
    description:
      'Months of which single events are kept, at least 25; days before are answered from what was folded, for ever. Unset, all are kept. Dropped events do not come back.',
    optional: true,
    parse: retention,
  }),
  COLLECTOR_HOST: variable({
    description: 'Address the collector listens on.',
    default: '127.0.0.1',
    parse: (text) => text,
  }),
  COLLECTOR_PORT: variable({ description: 'Port the collector listens on.', default: '8081', parse: port }),
  COLLECTOR_METRICS_PORT: variable({
    description: "Port of the collector's /metrics, at METRICS_HOST.",
    default: '9190',
    parse: port,
  }),
  SPOOL_FOLDER: variable({
    description:
      'Where the collector keeps what ClickHouse has not confirmed yet; one collector a folder, on a disk that survives a restart.',
    default: '.footfall/spool',
    parse: (text) => text,
  }),
  SPOOL_MAX_BYTES: variable({
    description:
      'Size the spool may grow to; above 85 % of it events are answered 503 until ClickHouse has taken some.',
    default: '4294967296',
    parse: bytes,
  }),
  TRUSTED_PROXIES: variable({
    description:
      'Addresses and networks, separated by commas, whose X-Forwarded-For the collector believes: proxies before it, and servers that send events of their visitors.',
    default: '127.0.0.1,::1',
    parse: networks,
  }),
  EVENTS_PER_SECOND_PER_ADDRESS: variable({
    description:
      'Events a second that a collector takes from one address (IPv6: one /64), with a burst of 20 times as many; more are answered 429. 0 for no limit. TRUSTED_PROXIES have none: a proxy that is not listed there makes all visitors one address.',
    default: '50',
    parse: count,
  }),
  EVENTS_PER_SECOND_PER_SITE: variable({
    description:
      'Events a second that a collector takes of one site, with a burst of 10 times as many; more are dropped, and answered 429 when nothing is left. 0 for no limit.',
    default: '2000',
    parse: count,
  }),
  CONNECTIONS_PER_ADDRESS: variable({
    description:
      'Connections that one address (IPv6: one /64) may have open to a collector; above that the one that has been without a whole request for longest is closed. 0 for no limit. TRUSTED_PROXIES have none.',
    default: '250',
    parse: count,
  }),
  COUNTRY_FILE: variable({
    description:
      'Country file in MaxMind format; a new one is taken without a restart. Unset, that of db-ip.com from npm.',
    optional: true,
    parse: (text) => text,
  }),
  DRAIN_SECONDS: variable({
    description:
      'Seconds for which a process that got SIGTERM goes on answering while /readyz says 503, so that load balancers notice before anybody is refused. Ctrl-C does not wait.',
    default: '3',
    parse: seconds,
  }),
  LOG_LEVEL: variable({
    description: 'trace, debug, info, warn, error or silent.',
    default: 'info',
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
  }),
}

type Values = typeof variables

export type Config = {
  [Name in keyof Values]:
    | ReturnType<Values[Name]['parse']>
    | (Values[Name] extends { optional: true } ? undefined : never)
}

/** A collector makes no key and checks none: it is not given what they are made with. */
export type CollectorConfig = Omit<Config, 'KEY_SECRETS'>

/** Throws one Error that names every variable that is missing or wrong. `unused`: those that this process has no use for. */
export function readConfig(environment: Record<string, string | undefined>, unused: readonly string[] = []): Config {
  const faults: string[] = []
  const used = Object.entries<Variable<unknown>>(variables).filter(([name]) => !unused.includes(name))
  const entries = used.map(([name, { description, parse, optional, ...rest }]) => {
    const text = environment[name] || rest.default
    try {
      if (text !== undefined) return [name, parse(text)]
      if (!optional) throw new Error(`is required: ${description}`)
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`)
    }
    return [name, undefined]
  })
  if (Number(environment.API_PROCESSES) > 1 && !environment.REDIS_URL) {
    faults.push('API_PROCESSES above 1 needs REDIS_URL: without it each process would allow the whole rate limit')
  }
  if (faults.length > 0) throw new Error(`The configuration is not usable:\n  ${faults.join('\n  ')}`)
  return Object.fromEntries(entries) as Config
}

/** For the mains: what is wrong is said without a stack trace, and nothing starts. */
export function readConfigOrExit(unused: readonly string[] = []): Config {
  try {
    return readConfig(process.env, unused)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nSee docs/configuration.md.\n`)
    process.exit(1)
  }
}

export const readCollectorConfigOrExit = (): CollectorConfig => readConfigOrExit(['KEY_SECRETS'])

function url(...protocols: string[]) {
  return (text: string): string => {
    if (!protocols.includes(URL.parse(text)?.protocol ?? '')) {
      throw new Error(
        `must be an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
      )
    }
    return text
  }
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Error('must be a port number, 0 to 65535')
  return Number(text)
}

function bytes(text: string): number {
  if (!/^\d{7,15}$/.test(text)) throw new Error('must be a number of bytes, at least 1000000')
  return Number(text)
}

function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error('must be a whole number, 0 for no limit')
  return Number(text)
}

function networks(text: string): string[] {
  return text.split(',').map((part) => {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(part.trim()) ?? []
    const family = isIP(address)
    if (family === 0 || Number(bits ?? 0) > (family === 6 ? 128 : 32)) {
      throw new Error('must be addresses or networks such as 10.0.0.0/8')
    }
    return part.trim()
  })
}

function processes(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new Error('must be a whole number from 1 to 999')
  return Number(text)
}

function retention(text: string): number {
  if (!/^[1-9]\d{1,3}$/.test(text) || Number(text) < 25) {
    throw new Error(
      'must be a whole number of months, 25 to 9999, because 12m is compared with the year before it; leave it unset to keep all events',
    )
  }
  return Number(text)
}

function megabytes(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new Error('must be a whole number of megabytes, 0 to 99999')
  return Number(text)
}

function seconds(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new Error('must be a whole number of seconds, 0 to 999')
  return Number(text)
}

function oneOf<Word extends string>(...words: Word[]) {
  return (text: string): Word => {
    if (!words.includes(text as Word)) throw new Error(`must be one of ${words.join(', ')}`)
    return text as Word
  }
}

function keySecrets(text: string): KeySecrets {
  const secrets = text.split(',').map((part) => {
    const [, version, secret] = /^(\d+):(.{32,})$/.exec(part.trim()) ?? []
    if (!version || !secret) throw new Error('must be version:secret pairs with secrets of at least 32 characters')
    return { version: Number(version), secret: Buffer.from(secret) }
  })
  if (new Set(secrets.map(({ version }) => version)).size < secrets.length) throw new Error('names a version twice')
  return secrets as unknown as KeySecrets
}
