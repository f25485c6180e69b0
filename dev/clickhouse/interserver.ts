// Replicas fetch parts from each other over a listener that clickhouse-server opens and `clickhouse local`, all that npm has, does not: it
// contains the code, but no setting and no statement reaches it. So this sets in the memory of the running process what clickhouse-server
// would set at its start. It knows the addresses of one build, and refuses any other.
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'

/** Of @chdb/lib-linux-x64-gnu 26.7.3-stable.1. */
const knownBuild = 'd3d8f5517577ad52775b52318a193784b2fb5317'

// From the beginning of the library, as `readelf --sections` and `objdump --disassemble` show them.
const buildId = 0x2b8
const textSegment = 0x916e000
/** DB::Context::global_context_instance. */
const globalContext = 0x21c1b568
/** Behind the end of .bss, in the last page that it occupies. */
const unused = 0x22b98900
/**
 * In DB::createHandlerFactory: the target of the jump when the name is `HTTPHandler-factory`, and where it leads for that name and for
 * `InterserverIOHTTPHandler-factory`.
 */
const handlerJump = { at: 0x18395d34, queries: 0x2c2, interserver: 0x84 }

// From the beginning of DB::ContextSharedPart.
const interserver = { host: 0x150, port: 0x168, scheme: 0x170, credentials: 0x1b0 }

/** `listen` makes the process open an HTTP listener. That one serves the other replicas, under this address. */
export async function serveReplicas(
  pid: number,
  host: string,
  port: number,
  listen: () => Promise<void>,
): Promise<void> {
  const text = readFileSync(`/proc/${pid}/maps`, 'utf8').match(/^(\w+)-\w+ r-xp .*\/libchdb\.so$/m)?.[1]
  if (!text) throw new Error(`Process ${pid} has no libchdb.so`)
  const library = Number.parseInt(text, 16) - textSegment
  const memory = openSync(`/proc/${pid}/mem`, 'r+')
  const read = (at: number, length: number) => {
    const bytes = Buffer.alloc(length)
    readSync(memory, bytes, 0, length, at)
    return bytes
  }
  const write = (at: number, bytes: Buffer) => writeSync(memory, bytes, 0, bytes.length, at)
  const pointer = (at: number) => Number(read(at, 8).readBigUInt64LE())
  try {
    const build = read(library + buildId, 20).toString('hex')
    if (build !== knownBuild)
      throw new Error(`interserver.ts knows the addresses of build ${knownBuild}, and this is ${build}`)

    // Credentials without name and password, which accept a list of one pair: the same, 48 bytes of zeros.
    const credentials = library + unused
    const pair = credentials + 128
    write(credentials, Buffer.concat([shortString(''), shortString(''), pointers(pair, pair + 48, pair + 48)]))
    const shared = pointer(pointer(library + globalContext))
    write(shared + interserver.credentials, pointers(credentials, 0))
    write(shared + interserver.scheme, shortString('http'))
    write(shared + interserver.port, Buffer.from(Uint16Array.of(port).buffer))
    // Tables that wait for an address take it as soon as its length is set, the last byte.
    const address = shortString(host)
    write(shared + interserver.host, address.subarray(0, 23))
    write(shared + interserver.host + 23, address.subarray(23))

    const jump = library + handlerJump.at
    write(jump, Buffer.from(Uint32Array.of(handlerJump.interserver).buffer))
    await listen().finally(() => write(jump, Buffer.from(Uint32Array.of(handlerJump.queries).buffer)))
  } finally {
    closeSync(memory)
  }
}

/** A std::string of at most 22 bytes: libc++ keeps it in place, with its length in the last of 24 bytes. */
const shortString = (value: string): Buffer => {
  const bytes = Buffer.alloc(24)
  bytes[23] = bytes.write(value)
  return bytes
}

const pointers = (...addresses: number[]): Buffer => Buffer.from(BigUint64Array.from(addresses, BigInt).buffer)
