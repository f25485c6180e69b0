import { once } from 'node:events'
import { explain } from '../process/error-hints.ts'
import { type Command, positionals } from './command.ts'
import { sourceHelp, sourceOptions } from './sites-source.ts'

export const mcp: Command = {
  summary: 'Give an assistant the statistics over MCP, on stdin and stdout',
  usage: '[--url <address>]',
  options: sourceOptions,
  optionHelp: sourceHelp,
  examples: ['footfall mcp', 'FOOTFALL_KEY=ff_a_… footfall mcp --url https://stats.example.com'],
  async run(input, context) {
    positionals(input, [])
    // Loaded only here, because they would delay every other command.
    const [{ serveStdio }, { createMcpServer }, { openSource }, { version }] = await Promise.all([
      import('@modelcontextprotocol/server/stdio'),
      import('../mcp/server.ts'),
      import('./source.ts'),
      import('../process/build-info.ts'),
    ])
    const source = openSource(input, context)
    const serving = serveStdio(() =>
      createMcpServer({
        openSource: source,
        version,
        now: Date.now,
        onFailure(error) {
          const { message, hint } = explain(error)
          return hint ? `${message} ${hint}` : message
        },
      }),
    )
    // The assistant closes stdin when it is done.
    const ends = [once(process.stdin, 'end'), once(process.stdin, 'close')]
    await Promise.race([...ends, once(process, 'SIGTERM'), once(process, 'SIGINT')])
    await serving.close()
    return { data: { ended: true }, show: () => '' }
  },
}
