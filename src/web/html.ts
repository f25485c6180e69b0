// HTML from tagged templates that escape by default. Only `html` makes Html, so text from a person or a visitor cannot become markup.

/** Markup that is safe to send. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[]

/** Values are escaped, markup is kept, lists are joined, and null, undefined and false vanish. Quote every attribute. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = parts[0] as string
  for (let index = 0; index < values.length; index++) text += textOf(values[index]) + parts[index + 1]
  return new Html(text)
}

function textOf(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(textOf).join('')
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
