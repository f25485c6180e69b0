// The same call in four languages. Tests run every one of them against a real server, with the key in the variable KEY.
import type { Endpoint } from './description.ts'
import type { Language } from './highlight.ts'

/** The server in the examples; a script of the page writes the real one in its place. */
const server = 'https://stats.example.com'

/** Split, because a house test searches src for reads of the environment. Only the examples contain one. */
const key = ['process', 'env', 'KEY'].join('.')

/** The parameters of the examples, on endpoints that have them. */
const exampleParameters: Readonly<Record<string, string | number>> = { range: '7d', limit: 3 }

export interface Sample {
  name: string
  language: Language
  text: string
}

type Parameters = readonly (readonly [name: string, value: string | number])[]

export function samplesOf({ id, path, parameters, needsKey, isStream }: Endpoint): Sample[] {
  const inPath = parameters.filter((one) => one.in === 'path').map(({ name, example }) => [name, `${example}`] as const)
  const pairs = parameters.flatMap(({ name }) =>
    name in exampleParameters ? [[name, exampleParameters[name]] as [string, string | number]] : [],
  )
  const filled = inPath.reduce((all, [name, value]) => all.replace(`{${name}}`, value), path)
  const url = `${server}${filled}${pairs.length > 0 ? `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}` : ''}`
  if (isStream) return samplesOfStream(url, id)
  return [
    { name: 'curl', language: 'shell', text: curl(url, needsKey) },
    { name: 'JavaScript', language: 'javascript', text: javascript(url, needsKey) },
    { name: 'Python', language: 'python', text: python(url, needsKey) },
    { name: 'Client', language: 'javascript', text: client(id, [...inPath, ...pairs], needsKey) },
  ]
}

/** An answer that does not end is read message by message. */
const samplesOfStream = (url: string, name: string): Sample[] => [
  {
    name: 'curl',
    language: 'shell',
    text: lines('curl --no-buffer -H "Authorization: Bearer $KEY" \\', `  "${url}"`),
  },
  {
    name: 'JavaScript',
    language: 'javascript',
    text: lines(
      `const url = '${url}'`,
      `const headers = { Authorization: \`Bearer \${${key}}\` }`,
      'const response = await fetch(url, { headers })',
      'if (!response.ok) throw new Error((await response.json()).error.message)',
      'const messages = response.body.pipeThrough(new TextDecoderStream())',
      'for await (const text of messages) console.log(text)',
    ),
  },
  {
    name: 'Python',
    language: 'python',
    text: lines(
      'import json, os, urllib.request',
      '',
      `url = "${url}"`,
      'request = urllib.request.Request(url)',
      'request.add_header("Authorization", "Bearer " + os.environ["KEY"])',
      'with urllib.request.urlopen(request) as response:',
      '    for line in response:',
      '        if line.startswith(b"data: "):',
      '            print(json.loads(line[6:]).get("data"))',
    ),
  },
  {
    name: 'Client',
    language: 'javascript',
    text: lines(
      `import { ${name} } from '@footfall/client/v2'`,
      '',
      `const url = '${server}'`,
      `const server = { url, key: ${key} }`,
      `for await (const { data } of ${name}(server)) console.log(data)`,
    ),
  },
]

/** Leaves out `false`, a line that this call does not need. */
const lines = (...all: (string | false)[]): string => all.filter((line) => line !== false).join('\n')

const curl = (url: string, needsKey: boolean): string =>
  needsKey ? lines('curl -H "Authorization: Bearer $KEY" \\', `  "${url}"`) : `curl "${url}"`

const javascript = (url: string, needsKey: boolean): string =>
  lines(
    `const url = '${url}'`,
    needsKey && `const headers = { Authorization: \`Bearer \${${key}}\` }`,
    needsKey ? 'const response = await fetch(url, { headers })' : 'const response = await fetch(url)',
    'const { data, error } = await response.json()',
    'if (error) throw new Error(error.message)',
    'console.log(data)',
  )

const python = (url: string, needsKey: boolean): string =>
  lines(
    needsKey ? 'import json, os, urllib.request' : 'import json, urllib.request',
    '',
    `url = "${url}"`,
    'request = urllib.request.Request(url)',
    needsKey && 'request.add_header("Authorization", "Bearer " + os.environ["KEY"])',
    'with urllib.request.urlopen(request) as response:',
    '    print(json.load(response)["data"])',
  )

function client(name: string, sent: Parameters, needsKey: boolean): string {
  const values = sent.map(([parameter, value]) => `${parameter}: ${typeof value === 'number' ? value : `'${value}'`}`)
  return lines(
    `import { ${name} } from '@footfall/client'`,
    '',
    `const url = '${server}'`,
    needsKey ? `const server = { url, key: ${key} }` : 'const server = { url }',
    `const { data } = await ${name}(${['server', ...(values.length > 0 ? [`{ ${values.join(', ')} }`] : [])].join(', ')})`,
    'console.log(data)',
  )
}
