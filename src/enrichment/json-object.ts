/** A JSON object, or a text that contains one: trackers of other products send the fields of an event as such a text. */
export function readObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const object = typeof value === 'string' ? parse(value) : value
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return undefined
  return object as Record<string, unknown>
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
