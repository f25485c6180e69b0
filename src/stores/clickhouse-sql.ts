// The only way to write a ClickHouse statement with values. A bare string inside the tag neither compiles nor runs. Values become
// typed server-side parameters, so no input ever touches SQL text.

const fragment = Symbol('sql fragment')
const parameter = Symbol('sql parameter')

export interface Sql {
  readonly [fragment]: true
  readonly strings: readonly string[]
  readonly holes: readonly (Sql | Parameter)[]
}

interface Parameter {
  readonly [parameter]: true
  readonly type: string
  readonly value: string | number | readonly string[] | readonly number[]
}

export function sql(strings: TemplateStringsArray, ...holes: (Sql | Parameter)[]): Sql {
  for (const hole of holes) {
    if (!(fragment in Object(hole)) && !(parameter in Object(hole))) {
      throw new TypeError('A value inside sql`…` must be a parameter (text(), uint(), …) or another sql fragment')
    }
  }
  return { [fragment]: true, strings, holes }
}

const typed = (type: string, value: Parameter['value']): Parameter => ({ [parameter]: true, type, value })

export const text = (value: string) => typed('String', value)
export const texts = (values: readonly string[]) => typed('Array(String)', values)
export const uint = (value: number) => typed('UInt64', value)
export const uints = (values: readonly number[]) => typed('Array(UInt64)', values)
export const ints = (values: readonly number[]) => typed('Array(Int64)', values)
/** `YYYY-MM-DD`. */
export const date = (day: string) => typed('Date', day)
export const dates = (days: readonly string[]) => typed('Array(Date)', days)
/** UTC milliseconds since the epoch. */
export const instant = (milliseconds: number) => typed("DateTime64(3, 'UTC')", (milliseconds / 1000).toFixed(3))

export const join = (parts: readonly Sql[], separator: Sql): Sql =>
  parts.reduce((all, part) => sql`${all}${separator}${part}`)

export interface Statement {
  readonly text: string
  readonly parameters: Readonly<Record<string, Parameter['value']>>
}

/** Equal values of one type share a parameter: rendering the same scope twice sends its values once. */
export function render(statement: Sql): Statement {
  const parameters: Record<string, Parameter['value']> = {}
  const names = new Map<string, string>()
  const write = ({ strings, holes }: Sql): string =>
    strings.reduce((text, string, index) => {
      const hole = holes[index - 1] as Sql | Parameter
      return text + (parameter in hole ? placeholder(hole) : write(hole)) + string
    })
  const placeholder = ({ type, value }: Parameter): string => {
    const identity = `${type} ${JSON.stringify(value)}`
    const name = names.get(identity) ?? `p${names.size}`
    names.set(identity, name)
    parameters[name] = value
    return `{${name}:${type}}`
  }
  return { text: write(statement), parameters }
}
