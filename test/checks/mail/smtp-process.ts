// A mail server in a process of its own, so that the check can kill it. Like a real server, it stores a message before it answers 250: it adds a
// line to a file. It pauses before and after that, so that kills also hit these moments.
//   node smtp-process.ts <port> <file>
import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { startMailServer } from '../../support/mail-server.ts'

const [port, file] = process.argv.slice(2) as [string, string]

const slowMs = 30

await startMailServer(
  {
    onData(stream, session, done) {
      let raw = ''
      stream.on('data', (chunk: Buffer) => {
        raw += chunk
      })
      stream.on('end', async () => {
        const id = /^Message-ID: <([^>@]*)@/im.exec(raw)?.[1]
        await pause(Math.random() * slowMs)
        appendFileSync(file, `${id} ${session.envelope.rcptTo[0]?.address}\n`)
        await pause(Math.random() * slowMs)
        done(null)
      })
    },
  },
  Number(port),
)
process.stdout.write('ready\n')
