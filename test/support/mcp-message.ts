// Single messages to /mcp without a client: for checks that send thousands of them, or some that no client would send.

export interface ToolResult {
  isError?: boolean
  content: { type: string; text: string }[]
  structuredContent?: Record<string, unknown>
}

export const messageHeaders = (key: string): Record<string, string> => ({
  Authorization: `Bearer ${key}`,
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
})

export const toolCall = (tool: string, input: unknown, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: tool, arguments: input },
})

/** The message of an answer, which is JSON or a stream of one event. Throws if it is neither. */
export function messageIn(text: string): { result?: ToolResult; error?: { code: unknown } } {
  const [, data] = /^event: message\ndata: ([^\n]*)\n\n$/.exec(text) ?? []
  return JSON.parse(data ?? text)
}
