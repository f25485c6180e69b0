import { readObject } from './json-object.ts'
import { cleanText } from './text.ts'

/** Properties of an event, by the rules of decision D-215. */
export interface Props {
  /** Undefined if there are none. */
  props: Readonly<Record<string, string>> | undefined
  /** What was left out, for the sender: `props.<key>`, or `props` if nothing could be read. */
  dropped: readonly string[]
}

const maxProps = 30
const maxValueLength = 200
const maxDropped = 30
const maxDroppedLength = 100
const keyPattern = /^[A-Za-z0-9_.-]{1,60}$/
/** With a single @, so that a value made of many takes no longer than another one. */
const emailAddress = /^\s*[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+\.?\s*$/
const none: Props = { props: undefined, dropped: [] }

/** `value` is what a client sent: an object, or a text with its JSON. */
export function readProps(value: unknown): Props {
  if (value === undefined || value === null || value === '') return none
  const object = readObject(value)
  if (!object) return { props: undefined, dropped: ['props'] }
  const props: Record<string, string> = {}
  const dropped: string[] = []
  let count = 0
  for (const key of Object.keys(object)) {
    const text = count < maxProps && isKey(key) ? readValue(object[key]) : ''
    if (text !== '') {
      props[key] = text
      count++
    } else if (dropped.length < maxDropped) {
      dropped.push(cleanText(`props.${key}`, maxDroppedLength))
    } else if (count === maxProps) {
      break
    }
  }
  return { props: count > 0 ? props : undefined, dropped }
}

/** `props.__proto__ = …` would set no property. */
const isKey = (key: string): boolean => keyPattern.test(key) && key !== '__proto__'

/** Empty if there is nothing to record. */
function readValue(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return ''
  const text = cleanText(String(value), maxValueLength)
  return isEmailAddress(text) ? '(removed)' : text
}

/** %40 is the @ of an address that was copied from a link. Most values have neither, and the pattern is 30 times as slow as the search. */
function isEmailAddress(text: string): boolean {
  const plain = text.replaceAll('%40', '@')
  return plain.includes('@') && emailAddress.test(plain)
}
