// Checks the YAML syntax that this repository uses: block mappings and lists, flow values on one line, block scalars (`|`). No
// dependency parses YAML, and GitHub reports a mistake only after a push.

interface Block {
  indent: number
  keys: Set<string>
}

/** Faults as `line: what is wrong`. */
export function yamlFaults(text: string): string[] {
  const faults: string[] = []
  const blocks: Block[] = [{ indent: 0, keys: new Set() }]
  let mayGoDeeper = true
  let scalarIndent: number | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const fault = (what: string) => faults.push(`${index + 1}: ${what}`)
    const indent = line.search(/\S/)
    if (indent === -1) continue
    if (scalarIndent !== undefined && indent > scalarIndent) continue
    scalarIndent = undefined
    const content = line.trimStart()
    if (content.startsWith('#')) continue
    if (line.includes('\t')) fault('a tab')
    const [marker = ''] = /^(- )*/.exec(content) ?? []
    const [, key, value = ''] = /^([\w.-]+|'[^']*'):(?: +(.*))?$/.exec(content.slice(marker.length)) ?? []
    if (key === undefined && marker === '') fault('neither a key nor an item of a list')
    const depth = indent + marker.length
    if (depth % 2 !== 0) fault('indented by an odd number of spaces')
    if (depth > (blocks.at(-1) as Block).indent && !mayGoDeeper && marker === '')
      fault('deeper than the line above allows')
    while ((blocks.at(-1) as Block).indent > (marker === '' ? depth : indent)) blocks.pop()
    if ((blocks.at(-1) as Block).indent < depth) blocks.push({ indent: depth, keys: new Set() })
    const { keys } = blocks.at(-1) as Block
    if (key !== undefined && keys.has(key)) fault(`${key} a second time`)
    if (key !== undefined) keys.add(key)
    const plain = (key === undefined ? content.slice(marker.length) : value).replace(/ #.*$/, '')
    if (plain === '|' || plain === '>') scalarIndent = depth
    else if (!isClosed(plain)) fault('a quote or bracket that is not closed')
    else if (key !== undefined && !/^['"[{]/.test(plain) && /: |:$/.test(plain)) fault('a colon that needs quotes')
    mayGoDeeper = plain === ''
  }
  return faults
}

function isClosed(value: string): boolean {
  const isQuoted = /^['"[{]/.test(value)
  const bare = value.replace(/'[^']*'|"[^"]*"/g, '')
  if (isQuoted && /['"]/.test(bare)) return false
  const count = (bracket: string) => bare.split(bracket).length
  return !/^[[{]/.test(value) || (count('[') === count(']') && count('{') === count('}'))
}
