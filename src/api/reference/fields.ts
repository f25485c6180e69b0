// The fields of an answer as a table, read from the schema that serialises it.

export interface Field {
  name: string
  type: string
  description: string
}

interface Schema {
  type?: string
  description?: string
  enum?: readonly string[]
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
}

/** Of the records of a list, or of an object; objects in it that are alike are named together. */
export function fieldsOf(schema: unknown): Field[] {
  const { items, properties = {} } = schema as Schema
  if (items) return fieldsOf(items)
  const groups = Map.groupBy(Object.entries(properties), ([, one]) => (one.properties ? JSON.stringify(one) : one))
  return [...groups.values()].flatMap((alike) => {
    const names = alike.map(([name]) => name).join(', ')
    const one = alike[0]?.[1] as Schema
    if (!one.properties) return [{ name: names, type: typeOf(one), description: one.description ?? '' }]
    return fieldsOf(one).map((field) => ({ ...field, name: `${names}: ${field.name}` }))
  })
}

function typeOf({ type, anyOf, enum: words }: Schema): string {
  if (anyOf) return anyOf.map(typeOf).join(' or ')
  return words ? `${type}: ${words.join(', ')}` : (type ?? '')
}
