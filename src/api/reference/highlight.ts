// Syntax colours for the languages of the examples: one regular expression each, whose named groups are classes of the style sheet.
import { type Html, html } from '../../web/html.ts'

const string = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/.source
const template = /`(?:\\.|[^`\\])*`/.source
const number = /(?<![\w.])-?\d+(?:\.\d+)?\b/.source
const words = (list: string) => `\\b(?:${list.replaceAll(' ', '|')})\\b`

const grammars = {
  json: new RegExp(
    `(?<property>${string})(?=\\s*:)|(?<string>${string})|(?<number>${number})|(?<word>${words('true false null')})`,
    'g',
  ),
  shell: new RegExp(
    `(?<string>${string})|(?<property>\\s-{1,2}\\w+|\\$\\w+)|(?<word>${words('curl export node')})`,
    'g',
  ),
  javascript: new RegExp(
    `(?<remark>//.*)|(?<string>${string}|${template})|(?<word>${words(
      'async await catch const else for function if import from let new null of return throw true try undefined',
    )})|(?<number>${number})`,
    'g',
  ),
  python: new RegExp(
    `(?<remark>#.*)|(?<string>${string})|(?<word>${words('as for if import in None print with')})|(?<number>${number})`,
    'g',
  ),
} as const

export type Language = keyof typeof grammars

/** The text with spans of the classes `property`, `string`, `number`, `word` and `remark`. */
export function highlight(language: Language, source: string): Html {
  const parts: (Html | string)[] = []
  let end = 0
  for (const match of source.matchAll(grammars[language])) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? []
    parts.push(source.slice(end, match.index), html`<span class="${kind}">${match[0]}</span>`)
    end = match.index + match[0].length
  }
  return html`${parts}${source.slice(end)}`
}
