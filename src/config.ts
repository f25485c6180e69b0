// Turns the environment into a typed configuration; only the mains read it. The types, the checks and docs/configuration.md come from one table.
import { keepingVariables } from './config/keeping.ts'
import {
  accountId,
  bytes,
  count,
  databaseUrl,
  domain,
  issuer,
  keySecrets,
  mailbox,
  megabytes,
  networks,
  oneOf,
  origins,
  port,
  processes,
  publicUrl,
  seconds,
  shards,
  smtpUrl,
  url,
} from './config/parsers.ts'

interface Variable<Value> {
  description: string
  /** The value of an unset variable. A variable without a default is required unless it is optional. */
  default?: string
  /** The variable may stay unset; its value is then undefined. */
  optional?: boolean
  /** Returns the value, or throws an Error that says what is expected. */
  parse(text: string): Value
}

const variable = <const Definition extends Variable<unknown>>(definition: Definition) => definition

export const variables = {
  DATABASE_URL: variable({
    description:
      'PostgreSQL: accounts, sites, keys. For a socket, `?host=/var/run/postgresql` at the end names its folder (docs/operations.md).',
    default: 'postgres://postgres@127.0.0.1:5432/footfall',
    parse: databaseUrl,
  }),
  CLICKHOUSE_URL: variable({
    description: 'ClickHouse over HTTP: events. The address holds user and password; its path names the database.',
    default: 'http://footfall:footfall@127.0.0.1:8123/footfall',
    parse: url('http:', 'https:'),
  }),
  CLICKHOUSE_SHARDS: variable({
    description:
      'Several ClickHouse servers instead of CLICKHOUSE_URL, as a JSON list of shards, each a list with the address of every replica: `[["http://…/footfall","http://…/footfall"]]`. Every site is on one shard. Append new shards at the end, and never change their order (docs/cluster.md).',
    optional: true,
    parse: shards,
  }),
  REDIS_URL: variable({
    description:
      'Redis: rate limits shared by all API processes, and sessions shared by all collectors. If unset, each process counts alone, which is right for one API process and one collector.',
    optional: true,
    parse: url('redis:', 'rediss:'),
  }),
  KEY_SECRETS: variable({
    description:
      'Secrets for hashing API keys, as version:secret pairs with the current one first: `2:…,1:…`. Each secret has at least 32 characters. If you lose them, no key works any more. A collector that runs alone needs none.',
    parse: keySecrets,
  }),
  API_PROCESSES: variable({
    description:
      'Number of processes that `npm start` runs behind one port; use about one per core. More than one needs REDIS_URL, because otherwise each process would allow the whole rate limit. The first process serves its metrics on METRICS_PORT, the others on the ports after it.',
    default: '1',
    parse: processes,
  }),
  HOST: variable({
    description: 'Address the API listens on; with `footfall serve` also console, collector and tracker.',
    default: '127.0.0.1',
    parse: (text) => text,
  }),
  PORT: variable({
    description: 'Port the API listens on; with `footfall serve` also console, collector and tracker.',
    default: '8080',
    parse: port,
  }),
  PUBLIC_URL: variable({
    description:
      'Address at which people and browsers reach Footfall, such as `https://stats.example.com`. The console makes every link, redirect and cookie from it, never from the Host header. Use https; plain http works for this machine only. If unset, it is `http://localhost` with the port.',
    optional: true,
    parse: publicUrl,
  }),
  MCP_ORIGINS: variable({
    description:
      'Origins of web pages, besides PUBLIC_URL, that may call `/mcp` from a browser, separated by commas: `https://assistant.example`. Assistants that are no web page send no origin and need no entry (docs/mcp.md).',
    optional: true,
    parse: origins,
  }),
  OIDC_ISSUER: variable({
    description:
      'Single sign-on with OpenID Connect: the issuer, such as `https://login.example.com`. Use https; plain http works for this machine only. If unset, people sign in with passwords only. Register `/login/oidc/callback` under PUBLIC_URL as the redirect URI (docs/console.md).',
    optional: true,
    parse: issuer,
  }),
  OIDC_CLIENT_ID: variable({
    description: 'Client id that the issuer has given to this Footfall.',
    optional: true,
    parse: (text) => text,
  }),
  OIDC_CLIENT_SECRET: variable({
    description: 'Client secret that belongs to the client id.',
    optional: true,
    parse: (text) => text,
  }),
  OIDC_DOMAIN: variable({
    description:
      'Domain such as `example.com`: whoever signs in at the issuer with a verified email of exactly this domain joins OIDC_ACCOUNT as a viewer, without an invitation. If unset, everybody needs an invitation.',
    optional: true,
    parse: domain,
  }),
  OIDC_ACCOUNT: variable({
    description: 'Id of the account that people of OIDC_DOMAIN join; `footfall account list` shows it.',
    optional: true,
    parse: accountId,
  }),
  SMTP_URL: variable({
    description:
      'Mail server for reports, invitations and notices: `smtps://user:password@mail.example.com` (TLS from the start), or `smtp://…:587`, which demands STARTTLS unless the server is this machine. `?tls=off` at the end allows mail without encryption. If unset, Footfall sends no mail. Needs MAIL_FROM and PUBLIC_URL (docs/mail.md).',
    optional: true,
    parse: smtpUrl,
  }),
  MAIL_FROM: variable({
    description: 'Sender of every mail: `stats@example.com`, or `Footfall <stats@example.com>`.',
    optional: true,
    parse: mailbox,
  }),
  WEBHOOK_ALLOW_PRIVATE: variable({
    description:
      'Addresses and networks, separated by commas, that webhooks may call although they are not public, such as `10.1.0.0/16`; there also with http and on any port. Everybody who owns a site can then send requests there. If unset, webhooks call public addresses only (docs/webhooks.md).',
    optional: true,
    parse: networks,
  }),
  CONSOLE_HOST: variable({
    description: 'Address the console listens on if it runs alone (`npm run console`).',
    default: '127.0.0.1',
    parse: (text) => text,
  }),
  CONSOLE_PORT: variable({
    description: 'Port the console listens on if it runs alone.',
    default: '8082',
    parse: port,
  }),
  CONSOLE_METRICS_PORT: variable({
    description: "Port that the console's /metrics listens on, at METRICS_HOST, if it runs alone.",
    default: '9290',
    parse: port,
  }),
  METRICS_HOST: variable({
    description: 'Address that /metrics listens on, separate from the public port.',
    default: '127.0.0.1',
    parse: (text) => text,
  }),
  METRICS_PORT: variable({ description: 'Port that /metrics listens on.', default: '9390', parse: port }),
  RESPONSE_CACHE_MB: variable({
    description: 'Memory that each API process uses for cached responses, in MB; 0 disables the cache.',
    default: '64',
    parse: megabytes,
  }),
  ...keepingVariables,
  UPLOAD_MAX_MB: variable({
    description:
      'Megabytes of files that somebody can upload at once in the console to import them; 0 allows no uploads. They are kept in the folder for temporary files (TMPDIR) for an hour at most. `footfall import` has no limit.',
    default: '500',
    parse: megabytes,
  }),
  COLLECTOR_HOST: variable({
    description: 'Address the collector listens on if it runs alone (`npm run collect`).',
    default: '127.0.0.1',
    parse: (text) => text,
  }),
  COLLECTOR_PORT: variable({
    description: 'Port the collector listens on if it runs alone.',
    default: '8081',
    parse: port,
  }),
  COLLECTOR_METRICS_PORT: variable({
    description: "Port that the collector's /metrics listens on, at METRICS_HOST.",
    default: '9190',
    parse: port,
  }),
  SPOOL_FOLDER: variable({
    description:
      'Folder where the collector stores events until ClickHouse confirms them. Each collector needs its own folder, on a disk that survives a restart.',
    default: '.footfall/spool',
    parse: (text) => text,
  }),
  SPOOL_MAX_BYTES: variable({
    description:
      'Largest size of the spool in bytes. Above 85 % of it, the collector answers 503 until ClickHouse has taken some events.',
    default: '4294967296',
    parse: bytes,
  }),
  TRUSTED_PROXIES: variable({
    description:
      'Addresses and networks, separated by commas, whose X-Forwarded-For header collector and console trust: the proxies in front of them, and servers that send events for their visitors.',
    default: '127.0.0.1,::1',
    parse: networks,
  }),
  EVENTS_PER_SECOND_PER_ADDRESS: variable({
    description:
      'Events per second that a collector accepts from one address (IPv6: one /64), with a burst of 20 times as many; it answers 429 to the rest. 0 means no limit. TRUSTED_PROXIES have no limit. A proxy that is not listed there makes all visitors look like one address.',
    default: '50',
    parse: count,
  }),
  EVENTS_PER_SECOND_PER_SITE: variable({
    description:
      'Events per second that a collector accepts for one site, with a burst of 10 times as many. It drops the rest, and answers 429 if it dropped every event of a request. 0 means no limit.',
    default: '2000',
    parse: count,
  }),
  CONNECTIONS_PER_ADDRESS: variable({
    description:
      'Connections that one address (IPv6: one /64) may have open to a collector. Above that, the collector closes the connection that has gone longest without a complete request. 0 means no limit. TRUSTED_PROXIES have no limit.',
    default: '250',
    parse: count,
  }),
  COUNTRY_FILE: variable({
    description:
      'Country file in MaxMind format. The collector loads a new version without a restart. If unset, the file of db-ip.com from npm is used.',
    optional: true,
    parse: (text) => text,
  }),
  DRAIN_SECONDS: variable({
    description:
      'Seconds that a process keeps answering after SIGTERM while /readyz returns 503, so that load balancers stop using it before it refuses connections. Ctrl-C does not wait.',
    default: '3',
    parse: seconds,
  }),
  LOG_LEVEL: variable({
    description: 'Which messages to log: trace, debug, info, warn, error or silent.',
    default: 'info',
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
  }),
  FOOTFALL_EXPLAIN: variable({
    description:
      'For development: 1 logs every ClickHouse statement of an API process with its parameters, plan, time and rows read.',
    default: '0',
    parse: (text) => oneOf('0', '1')(text) === '1',
  }),
}

type Values = typeof variables

export type Config = {
  [Name in keyof Values]:
    | ReturnType<Values[Name]['parse']>
    | (Values[Name] extends { optional: true } ? undefined : never)
}

/** A collector checks no keys, signs nobody in and sends no mail, so it does not get the secrets. */
export type CollectorConfig = Omit<Config, 'KEY_SECRETS' | 'OIDC_CLIENT_SECRET' | 'SMTP_URL'>

/** Settings that need each other: all of a group are set, or none. */
const together = [
  ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'],
  ['OIDC_DOMAIN', 'OIDC_ACCOUNT'],
  ['SMTP_URL', 'MAIL_FROM'],
] as const

/** Throws one Error that names every missing or wrong variable. `unused` lists the variables that this process does not need. */
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
  for (const names of together) {
    const needed = names.filter((name) => !unused.includes(name))
    const first = needed.find((name) => environment[name])
    const missing = first ? needed.filter((name) => !environment[name]) : []
    faults.push(...missing.map((name) => `${name} is missing: ${first} needs it`))
  }
  if (environment.SMTP_URL && !environment.PUBLIC_URL && !unused.includes('SMTP_URL')) {
    faults.push('SMTP_URL needs PUBLIC_URL: mails contain links to Footfall')
  }
  if (environment.OIDC_DOMAIN && !environment.OIDC_ISSUER) {
    faults.push('OIDC_DOMAIN needs OIDC_ISSUER: people of the domain sign in there')
  }
  if (faults.length > 0) throw new Error(`The configuration is not usable:\n  ${faults.join('\n  ')}`)
  return Object.fromEntries(entries) as Config
}
