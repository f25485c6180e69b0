// Decides what counts as a page, by the same rules for live and for imported hits.

export const maxUrlLength = 2_000
export const maxNameLength = 120
const maxTitleLength = 500

/** Undefined when the text is too long or not the URL of a web page. */
export function readPageUrl(text: string): URL | undefined {
  const url = text.length > maxUrlLength ? null : URL.parse(text)
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : undefined
}

/** Without the dot at the end that a fully qualified name may have. */
export const hostnameOf = ({ hostname }: URL): string => hostname.replace(/\.$/, '')

export const cleanTitle = (title: string): string => title.slice(0, maxTitleLength).trim().toWellFormed()
