// Formats output for a terminal: tables that fit its width, colour unless NO_COLOR is set, progress for long work.
import { stripVTControlCharacters, styleText } from 'node:util'

export interface Terminal {
  /** Whether the output goes to a terminal, not to a file or another program. */
  readonly isInteractive: boolean
  readonly width: number
  readonly height: number
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  bad(text: string): string
  warn(text: string): string
  accent(text: string): string
  /** Text on a background in the colour of `accent`. */
  onAccent(text: string): string
  /** Rows under headings. On a narrow terminal the widest columns shrink first. */
  table(headings: readonly string[], rows: readonly (readonly string[])[]): string
  /** One label and value per line. */
  facts(pairs: readonly (readonly [label: string, value: string])[]): string
}

type Style = Parameters<typeof styleText>[0]

export function createTerminal(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): Terminal {
  const colourful = stream.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb'
  const width = () => stream.columns || 120 // each time, because a window can be resized
  const style = (format: Style) => (text: string) =>
    colourful ? styleText(format, text, { validateStream: false }) : text
  const [bold, dim] = [style('bold'), style('dim')]
  return {
    isInteractive: stream.isTTY === true,
    get width() {
      return width()
    },
    get height() {
      return stream.rows || 40
    },
    bold,
    dim,
    good: style('green'),
    bad: style('red'),
    warn: style('yellow'),
    accent: style('cyan'),
    onAccent: style(['black', 'bgCyan']),
    table(headings, rows) {
      const widths = fit(
        headings.map((heading, column) =>
          Math.max(...[heading, ...rows.map((row) => row[column] ?? '')].map(shownWidth)),
        ),
        headings.map(shownWidth),
        width(),
      )
      const line = (cells: readonly string[]) =>
        cells
          .map((cell, column) => pad(shorten(cell, widths[column] as number), widths[column] as number))
          .join('  ')
          .trimEnd()
      return [dim(line(headings)), ...rows.map(line)].join('\n')
    },
    facts(pairs) {
      const longest = Math.max(...pairs.map(([label]) => shownWidth(label)))
      return pairs.map(([label, value]) => `${dim(pad(label, longest))}  ${value}`).join('\n')
    },
  }
}

const gap = 2

/** Shrinks the widest column until the table fits, but never below its heading or 8 characters. */
function fit(fullWidths: readonly number[], minWidths: readonly number[], width: number): number[] {
  const widths = [...fullWidths]
  const total = () => widths.reduce((sum, one) => sum + one, 0) + gap * (widths.length - 1)
  while (total() > width) {
    const shrinkable = widths.map((one, column) => (one > Math.max(8, minWidths[column] as number) ? one : 0))
    const widest = shrinkable.indexOf(Math.max(...shrinkable))
    if (shrinkable[widest] === 0) break
    widths[widest] = (widths[widest] as number) - 1
  }
  return widths
}

/** East Asian characters and emoji take two columns. */
const wide =
  /[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
/** Characters without a width of their own: accents on the character before. */
const combining = /[\p{Mn}\p{Me}]/u

const characterWidth = (character: string): number => (combining.test(character) ? 0 : wide.test(character) ? 2 : 1)

const plainWidth = (text: string): number => {
  let width = 0
  for (const character of text) width += characterWidth(character)
  return width
}

/** The columns that a text takes. */
export const shownWidth = (text: string): number => plainWidth(stripVTControlCharacters(text))

export const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - shownWidth(text)))

export const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - shownWidth(text))) + text

/** A text that is too wide is cut and loses its style. */
export function shorten(text: string, width: number): string {
  if (shownWidth(text) <= width) return text
  let start = ''
  let columns = 1
  for (const character of stripVTControlCharacters(text)) {
    columns += characterWidth(character)
    if (columns > width) break
    start += character
  }
  return width > 0 ? `${start}…` : ''
}

export interface Progress {
  update(done: number, total: number): void
  end(): void
}

/** A bar on a terminal; elsewhere one line every 5 seconds, so that a log shows the progress. `unit` names what is counted. */
export function showProgress(stream: NodeJS.WriteStream, label: string, unit: string): Progress {
  const began = Date.now()
  let shownAt = 0
  let isShown = false
  return {
    update(done, total) {
      const now = Date.now()
      const pause = stream.isTTY ? 100 : 5_000
      if (done < total && now - shownAt < pause) return
      shownAt = now
      isShown = true
      stream.write(
        progressLine(
          label,
          `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${unit}`,
          share(done, total),
          now - began,
          stream,
        ),
      )
    },
    end() {
      if (stream.isTTY && isShown) stream.write('\n')
    },
  }
}

const share = (done: number, total: number): number => (total === 0 ? 1 : Math.min(1, done / total))

function progressLine(
  label: string,
  counted: string,
  share: number,
  elapsedMs: number,
  stream: NodeJS.WriteStream,
): string {
  const left = share === 0 ? '' : `, ${Math.ceil((elapsedMs / 1000 / share) * (1 - share))} s left`
  const numbers = `${Math.floor(share * 100)} %  ${counted}${left}`
  if (!stream.isTTY) return `${label}: ${numbers}\n`
  const room = Math.max(10, Math.min(30, (stream.columns ?? 80) - label.length - numbers.length - 6))
  const filled = Math.round(share * room)
  return `\r${label} ${'█'.repeat(filled)}${'░'.repeat(room - filled)} ${numbers}\x1b[K`
}
