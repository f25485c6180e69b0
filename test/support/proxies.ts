// nginx and Caddy as operators run them, with the files of deploy/ in which only addresses and certificates differ.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { constants, createGunzip } from 'node:zlib'
import { freePort } from '../../dev/clickhouse/server.ts'
import { eventually } from './eventually.ts'

export interface TlsProxy {
  /** https://localhost with its port. */
  url: string
  /** The file with the certificate that vouches for it. */
  authority: string
  stop(): Promise<void>
}

/** Where it forwards to, and how a test changes the deployed file. */
interface ProxyOptions {
  port: number
  to: number
  change?(file: string): string
}

export type ProxyName = 'nginx' | 'Caddy'

const deployed = (name: string): string => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8')

/** Debian has servers in /usr/sbin, which is not on the PATH of every user. */
const programOf = (name: string): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].map((place) => join(place, name)).find(existsSync)

export const proxyMissing = (name: ProxyName): string | undefined =>
  programOf(name.toLowerCase()) ? undefined : `${name} is not installed (apt-get install ${name.toLowerCase()}).`

export async function startProxy(name: ProxyName, options: ProxyOptions): Promise<TlsProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-proxy-'))
  const { args, authority, environment } = await (name === 'nginx' ? nginx : caddy)(folder, options)
  const child = spawn(programOf(name.toLowerCase()) as string, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH ?? '', ...environment },
  })
  let log = ''
  child.stderr.on('data', (chunk) => {
    log += chunk
  })
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  const proxy: TlsProxy = { url: `https://localhost:${options.port}`, authority, stop }
  await eventually(() => askProxy(proxy, '/livez')).catch(async (error) => {
    await stop()
    throw new Error(`${name} did not answer (${error}):\n${log}`)
  })
  return proxy
}

async function nginx(folder: string, { port, to, change = (file) => file }: ProxyOptions) {
  const [key, authority] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', authority]
  execFileSync('openssl', [...made, ...subject], { stdio: 'ignore' })
  const plain = await freePort()
  const site = change(deployed('nginx/footfall.conf'))
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('listen 80;', `listen 127.0.0.1:${plain};`)
    .replaceAll(/^.*listen \[::\].*\n/gm, '')
    .replaceAll('stats.example.com;', 'localhost;')
    .replace(/ssl_certificate \S+;/, `ssl_certificate ${authority};`)
    .replace(/ssl_certificate_key \S+;/, `ssl_certificate_key ${key};`)
    .replace('127.0.0.1:8080', `127.0.0.1:${to}`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; error_log stderr warn; events {}
     http { ${temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}\n${site}\n}`,
  )
  return { args: ['-p', folder, '-c', join(folder, 'nginx.conf')], authority, environment: {} }
}

async function caddy(folder: string, { port, to, change = (file) => file }: ProxyOptions) {
  const site = change(deployed('Caddyfile'))
    .replace('stats.example.com {', `https://localhost:${port} {\n\tbind 127.0.0.1`)
    .replace('127.0.0.1:8080', `127.0.0.1:${to}`)
  const options = '{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n'
  const file = join(folder, 'Caddyfile')
  writeFileSync(file, options + site)
  mkdirSync(join(folder, 'data'))
  return {
    args: ['run', '--adapter', 'caddyfile', '--config', file],
    authority: join(folder, 'data/caddy/pki/authorities/local/root.crt'),
    environment: { HOME: folder, XDG_DATA_HOME: join(folder, 'data'), XDG_CONFIG_HOME: folder },
  }
}

export interface ProxyRequest {
  method?: string
  headers?: Record<string, string>
  body?: string
  /** The address that the proxy sees. */
  from?: string
}

export interface ProxyAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

export function askProxy(
  { url, authority }: TlsProxy,
  path: string,
  { method = 'GET', headers = {}, body = '', from = '127.0.0.1' }: ProxyRequest = {},
): Promise<ProxyAnswer> {
  return new Promise((resolve, reject) => {
    const options = { method, headers, ca: readFileSync(authority), localAddress: from, family: 4, agent: false }
    const asked = request(new URL(path, url), options, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

/** An answer that does not end. `text` is what came so far. */
export function openStream(
  { url, authority }: TlsProxy,
  path: string,
  headers: Record<string, string>,
): { text(): string; close(): void } {
  let text = ''
  const asked = request(new URL(path, url), { headers, ca: readFileSync(authority), family: 4, agent: false })
  asked.on('response', (response) => {
    const isCompressed = response.headers['content-encoding'] === 'gzip'
    const body = isCompressed ? response.pipe(createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })) : response
    body.on('data', (chunk) => {
      text += chunk
    })
    body.on('error', () => {})
  })
  asked.on('error', () => {})
  asked.end()
  return { text: () => text, close: () => void asked.destroy() }
}
