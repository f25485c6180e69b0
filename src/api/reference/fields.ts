// Lists the fields of a response as a table, from the schema that serialises the response.
import { type Schema, typeOf } from './description.ts'

export interface Field {
  /** Several names if the fields differ only in their names. */
  names: readonly string[]
  /** For its permalink: `data.current.visitors`. */
  path: string
  /** The names of the object that it is in, and of the objects around that. */
  within: readonly string[]
  type: string
  unit: string
  description: string
}

/** The fields of an object, or of the records of a list, each before the fields inside it. */
export function fieldsOf(schema: Schema, path: string, within: readonly string[] = []): Field[] {
  const { items, properties = {} } = schema
  if (items) return fieldsOf(items, path, within)
  const groups = Map.groupBy(Object.entries(properties), ([, one]) => JSON.stringify(one))
  return [...groups.values()].flatMap((alike) => {
    const names = alike.map(([name]) => name)
    const [first, one] = alike[0] as [string, Schema]
    const values = one.enum ? ` One of ${one.enum.map((word) => `\`${word}\``).join(', ')}.` : ''
    const field = {
      names,
      path: `${path}.${first}`,
      within,
      type: typeOf(one),
      unit: one['x-unit'] ?? '',
      description: (one.description ?? '') + values,
    }
    return [field, ...fieldsOf(one, field.path, [...within, names.join(', ')])]
  })
}
