// A secret and the forms in which it could occur: unchanged, in part, or in one of the usual encodings.

export interface Secret {
  /** Its name in the report, never the text itself. */
  name: string
  text: string
}

/** A key's characters in a run this long are no coincidence. The prefix kept for display is shorter (decision D-40). */
const runLength = 12
const runStep = 3

/** Form -> texts that each would reveal the secret. Compared case-insensitively. */
function formsOf(text: string): Record<string, string[]> {
  const bytes = Buffer.from(text)
  const runs: string[] = []
  for (let from = 0; from + runLength <= text.length; from += runStep) runs.push(text.slice(from, from + runLength))
  // In base64 a text looks different at each of three alignments. Its ends depend on the neighbouring characters and are left out.
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
      .slice(shift === 0 ? 0 : 4, -3),
  )
  return {
    plain: runs,
    base64,
    base64url: base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
    hex: runs.map((run) => Buffer.from(run).toString('hex')),
    'percent-encoded': [[...bytes].map((byte) => `%${byte.toString(16)}`).join(''), encodeURIComponent(text)],
    // Doubled where the escapes were themselves escaped, as in a dump of JSON.
    'unicode escapes': ['\\u00', '\\\\u00'].map((start) =>
      [...bytes].map((byte) => start + byte.toString(16)).join(''),
    ),
  }
}

/** The whole secret in each form, as it is planted. */
export const writtenForms = ({ text }: Secret): Record<string, string> => ({
  plain: `x${text.slice(10, 10 + runLength + runStep)}x`,
  base64: Buffer.from(`{"a":"${text}"}`).toString('base64'),
  base64url: Buffer.from(`Bearer ${text}`).toString('base64url'),
  hex: Buffer.from(text).toString('hex').toUpperCase(),
  'percent-encoded': [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase()}`).join(''),
  'unicode escapes': [...Buffer.from(text)].map((byte) => `\\u00${byte.toString(16)}`).join(''),
})

/** The forms of a secret that occur in a text. */
export function findIn(haystack: string, { text }: Secret): { form: string; around: string }[] {
  const lower = haystack.toLowerCase()
  return Object.entries(formsOf(text)).flatMap(([form, wanted]) => {
    for (const one of wanted) {
      const at = lower.indexOf(one.toLowerCase())
      if (at !== -1) return [{ form, around: haystack.slice(Math.max(0, at - 150), at + 60) }]
    }
    return []
  })
}
