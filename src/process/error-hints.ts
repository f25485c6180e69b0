// Explains errors to the person at the keyboard: one sentence says what went wrong, one says what to do next. Never a stack trace.

/** An error that an operator can fix; the hint says how. */
export class HintedError extends Error {
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}

/**
 * The error behind an error. For a host with several addresses it is the error of the first address; for a dependency that the
 * circuit breaker has given up on, it is the reason.
 */
export function causeOf(error: Error): NodeJS.ErrnoException {
  if (error instanceof HintedError) return error
  if (error instanceof AggregateError && error.errors.length > 0) return causeOf(error.errors[0])
  return error.cause instanceof Error && !('code' in error) ? causeOf(error.cause) : error
}

export function explain(failure: Error): { message: string; hint: string } {
  const error = causeOf(failure)
  if (error instanceof HintedError) return error
  const { code = '', path, syscall } = error
  if (path !== undefined && files[code]) return { message: `${path} ${files[code][0]}`, hint: files[code][1] }
  // A socket that is not there is a server that does not run.
  const database = databases[syscall === 'connect' && code === 'ENOENT' ? 'ECONNREFUSED' : code]
  if (database)
    return { message: `${database[0].slice(0, -1)} (${oneLine(error.message).replace(/\.$/, '')}).`, hint: database[1] }
  if (error.message.startsWith('The configuration is not usable')) {
    return {
      message: error.message,
      hint: 'docs/configuration.md describes every setting; footfall secret create generates KEY_SECRETS.',
    }
  }
  return {
    message: oneLine(error.message) || error.name,
    hint: 'footfall doctor checks configuration, connections and databases.',
  }
}

/** For a process that cannot continue: prints the reason and exits with 1. */
export function exitWith(error: Error): never {
  const { message, hint } = explain(error)
  try {
    process.stderr.write(`footfall: ${message}\n  ${hint}\n`)
  } finally {
    process.exit(1)
  }
}

/** ClickHouse and PostgreSQL may quote whole statements in an error, so the message is cut. */
function oneLine(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim()
  return line.length > 300 ? `${line.slice(0, 299)}…` : line
}

const files: Record<string, [message: string, hint: string]> = {
  ENOENT: ['does not exist.', 'Check the name.'],
  EACCES: ['is not accessible to this user.', 'Give this user access to it, or use another path.'],
  EPERM: ['is not accessible to this user.', 'Give this user access to it, or use another path.'],
  EROFS: ['is on a read-only disk.', 'Use a path on a disk that can be written.'],
  ENOSPC: ['is on a full disk.', 'Free some space on it, or use a path on another disk.'],
  EDQUOT: ['is on a disk whose quota is used up.', 'Free some space on it, or use a path on another disk.'],
  EEXIST: ['already exists.', 'Use another path.'],
  EISDIR: ['is a folder, not a file.', 'Name a file.'],
  ENOTDIR: ['is not in a folder.', 'Check the path: a part of it is a file.'],
}

const doctor = 'footfall doctor says which one it is.'

const databases: Record<string, [message: string, hint: string]> = {
  ECONNREFUSED: ['A database does not answer.', `Check that it runs, and DATABASE_URL and CLICKHOUSE_URL; ${doctor}`],
  ECONNRESET: ['A database broke the connection.', `Check DATABASE_URL and CLICKHOUSE_URL; ${doctor}`],
  EPIPE: ['A database broke the connection.', `Check DATABASE_URL and CLICKHOUSE_URL; ${doctor}`],
  ETIMEDOUT: ['A database does not answer.', `Check the network, and DATABASE_URL and CLICKHOUSE_URL; ${doctor}`],
  EHOSTUNREACH: ['A database cannot be reached.', `Check the network, and DATABASE_URL and CLICKHOUSE_URL; ${doctor}`],
  ENETUNREACH: ['A database cannot be reached.', `Check the network, and DATABASE_URL and CLICKHOUSE_URL; ${doctor}`],
  ENOTFOUND: ['A database host has no address.', 'Check the host names in DATABASE_URL and CLICKHOUSE_URL.'],
  EAI_AGAIN: ['A database host has no address at the moment.', 'Check DNS, DATABASE_URL and CLICKHOUSE_URL.'],
  CONNECT_TIMEOUT: ['PostgreSQL does not answer.', 'Check DATABASE_URL, and that the server runs.'],
  CONNECTION_CLOSED: ['PostgreSQL closed the connection.', 'Check that DATABASE_URL names a PostgreSQL server.'],
  BEFORE_BASELINE: [
    'The databases are from before 0.1.0, and cannot be upgraded.',
    'Name new databases in DATABASE_URL and CLICKHOUSE_URL and run footfall migrate; only the version that made them can read the old ones.',
  ],
  OTHER_MIGRATIONS: [
    'The databases were made by an unreleased version, and cannot be upgraded.',
    'Run footfall backup with the version that made them, then footfall migrate and footfall restore with this one and new databases in DATABASE_URL and CLICKHOUSE_URL.',
  ],
  '3D000': ['The PostgreSQL database does not exist.', 'Run: footfall migrate'],
  '28P01': ['PostgreSQL refuses the password.', 'Check the user and password in DATABASE_URL.'],
  '28000': [
    'PostgreSQL refuses the user.',
    'Check the user in DATABASE_URL, and pg_hba.conf; docs/operations.md says what passwords and sockets need.',
  ],
  '42P01': ['The PostgreSQL tables are missing.', 'Run: footfall migrate'],
  '42703': ['The PostgreSQL tables are from an older version.', 'Run: footfall migrate'],
  '42501': ['The PostgreSQL user may not do that.', 'Use the owner of the database in DATABASE_URL.'],
  '25006': ['PostgreSQL is read-only.', 'Check that DATABASE_URL names the primary, not a replica.'],
  '53100': ['The disk of PostgreSQL is full.', 'Free some space on it.'],
  '53300': ['PostgreSQL has no connection left.', 'Raise max_connections, or close other connections.'],
  '57P03': ['PostgreSQL is starting or stopping.', 'Try again in a moment.'],
  '23503': ['An id names something that does not exist.', 'Check the ids: footfall account list, footfall site list'],
  NOT_CLICKHOUSE: [
    'A server is not ClickHouse.',
    'Check CLICKHOUSE_URL: it is the address of ClickHouse over HTTP, usually with port 8123.',
  ],
  '81': ['The ClickHouse database does not exist.', 'Run: footfall migrate'],
  '60': ['The ClickHouse tables are missing.', 'Run: footfall migrate'],
  '390': ['The ClickHouse tables are missing.', 'Run: footfall migrate'],
  '47': ['The ClickHouse tables are from an older version.', 'Run: footfall migrate'],
  '516': ['ClickHouse refuses the user or password.', 'Check the user and password in CLICKHOUSE_URL.'],
  '497': ['The ClickHouse user may not do that.', 'Grant it, or use another user in CLICKHOUSE_URL.'],
  '164': ['The ClickHouse user may only read.', 'Use a user that may write in CLICKHOUSE_URL (docs/operations.md).'],
  '241': ['ClickHouse has too little memory for that.', 'Give it more, or try again when it is less busy.'],
  '285': ['A replica of ClickHouse is away.', `Repeat it when all are back; ${doctor}`],
  '319': ['A replica of ClickHouse does not copy rows.', `Repeat it when all are back; ${doctor}`],
  '243': ['The disk of ClickHouse is full.', 'Free some space on it.'],
}
