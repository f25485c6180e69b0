// The official MCP client, as assistants use it.
import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'

/** Clients of today begin with a handshake; those of the newest revision send everything with each request. */
export type Era = 'legacy' | 'modern'

export interface McpClient {
  client: Client
  /** The result of a tool, whether it is an answer or an error. */
  call(tool: string, input?: Record<string, unknown>): Promise<CallToolResult>
  close(): Promise<void>
}

export async function connectClient(transport: Transport, era: Era = 'legacy'): Promise<McpClient> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' } },
  )
  await client.connect(transport)
  return {
    client,
    call: (name, input = {}) => client.callTool({ name, arguments: input }) as Promise<CallToolResult>,
    close: () => client.close(),
  }
}

export const connectHttp = (url: string, key: string, era?: Era): Promise<McpClient> =>
  connectClient(
    new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { Authorization: `Bearer ${key}` } },
    }),
    era,
  )

export const textOf = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
