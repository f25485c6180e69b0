// Two ways to send a bare statement: with the official client and the settings of src/stores/clickhouse.ts, and with plain node:http. The
// client waits for a timer before every request (`await sleep(0)`, which takes a millisecond), so the second is faster.
import { Agent, request } from 'node:http'
import { createClient } from '@clickhouse/client'
import type { Statement } from '../../src/stores/clickhouse-sql.ts'

export interface ClickHouseConnection {
  /** Returns the rows as received. */
  ask(statement: Statement): Promise<string>
  close(): Promise<void>
}

const settings = {
  max_execution_time: 2,
  wait_end_of_query: 1,
  max_threads: 1,
  optimize_use_projections: 0,
  optimize_use_implicit_projections: 0,
  cancel_http_readonly_queries_on_client_close: 1,
} as const

export function openByClient(url: string): ClickHouseConnection {
  const client = createClient({
    url,
    max_open_connections: 16,
    request_timeout: 2_300,
    log: { level: 127 },
    clickhouse_settings: settings,
  })
  return {
    async ask({ text, parameters }) {
      const result = await client.query({ query: text, query_params: parameters, format: 'JSONEachRow' })
      return result.text()
    },
    close: () => client.close(),
  }
}

/** The cost of one statement, as reported by ClickHouse. */
export interface Cost {
  rows: number
  bytes: number
  memory: number
}

export interface MeasuringConnection extends ClickHouseConnection {
  measure(statement: Statement): Promise<{ body: string; cost: Cost }>
}

export interface HttpOptions {
  connections?: number
  /** Replaces the settings of src/stores/clickhouse.ts. */
  settings?: Record<string, string | number>
}

export function openByHttp(
  url: string,
  { connections = 16, settings: other = {} }: HttpOptions = {},
): MeasuringConnection {
  const { hostname: host, port, username, password, pathname } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const fixed = Object.entries({ database: pathname.slice(1), default_format: 'JSONEachRow', ...settings, ...other })
  const headers = { Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }

  function measure({ text, parameters }: Statement): Promise<{ body: string; cost: Cost }> {
    const given = Object.entries(parameters).map(([name, value]) => [`param_${name}`, written(value)] as const)
    const query = [...fixed, ...given].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
    return new Promise((resolve, reject) => {
      const asked = request({ host, port, agent, method: 'POST', path: `/?${query}`, headers }, (answer) => {
        let body = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => {
          body += chunk
        })
        answer.on('error', reject)
        answer.on('end', () =>
          answer.statusCode === 200
            ? resolve({ body, cost: costOf(answer.headers['x-clickhouse-summary']) })
            : reject(new Error(body)),
        )
      })
      asked.on('error', reject)
      asked.end(text)
    })
  }
  return {
    measure,
    ask: async (statement) => (await measure(statement)).body,
    close: async () => agent.destroy(),
  }
}

function costOf(summary: string | string[] | undefined): Cost {
  const { read_rows, read_bytes, memory_usage } = JSON.parse(String(summary)) as Record<string, string>
  return { rows: Number(read_rows), bytes: Number(read_bytes), memory: Number(memory_usage) }
}

/** In the format of ClickHouse parameters. The bench has no values that need escaping. */
const written = (value: Statement['parameters'][string]): string =>
  typeof value === 'object'
    ? `[${value.map((one) => (typeof one === 'string' ? `'${one}'` : one)).join(',')}]`
    : `${value}`
