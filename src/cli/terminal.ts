// How things look on a terminal: tables that fit its width, colour unless NO_COLOR says otherwise, progress for long work.
import { stripVTControlCharacters, styleText } from 'node:util'

export interface Terminal {
  readonly width: number
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  bad(text: string): string
  warn(text: string): string
  /** Rows under headings; the widest text columns give way first when the terminal is narrow. */
  table(headings: readonly string[], rows: readonly (readonly string[])[]): string
  /** Label and value on a line each. */
  facts(pairs: readonly (readonly [label: string, value: string])[]): string
}

type Style = Parameters<typeof styleText>[0]

export function createTerminal(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): Terminal {
  const colourful = stream.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb'
  const width = stream.columns ?? 120
  const style = (format: Style) => (text: string) =>
    colourful ? styleText(format, text, { validateStream: false }) : text
  const [bold, dim] = [style('bold'), style('dim')]
  return {
    width,
    bold,
    dim,
    good: style('green'),
    bad: style('red'),
    warn: style('yellow'),
    table(headings, rows) {
      const widths = fit(
        headings.map((heading, column) =>
          Math.max(...[heading, ...rows.map((row) => row[column] ?? '')].map(shownWidth)),
        ),
        headings.map(shownWidth),
        width,
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

/** Takes from the widest column until the table fits, but never below its heading or 8 characters. */
function fit(wanted: readonly number[], least: readonly number[], width: number): number[] {
  const widths = [...wanted]
  const total = () => widths.reduce((sum, one) => sum + one, 0) + gap * (widths.length - 1)
  while (total() > width) {
    const shrinkable = widths.map((one, column) => (one > Math.max(8, least[column] as number) ? one : 0))
    const widest = shrinkable.indexOf(Math.max(...shrinkable))
    if (shrinkable[widest] === 0) break
    widths[widest] = (widths[widest] as number) - 1
  }
  return widths
}

const shownWidth = (text: string): number => [...stripVTControlCharacters(text)].length

const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - shownWidth(text)))

function shorten(text: string, width: number): string {
  if (shownWidth(text) <= width) return text
  return `${[...stripVTControlCharacters(text)].slice(0, width - 1).join('')}…`
}

export interface Progress {
  update(done: number, total: number): void
  end(): void
}

/** A bar on a terminal; elsewhere a line now and then, so that a log shows that work goes on. `unit`: what is counted. */
export function showProgress(stream: NodeJS.WriteStream, label: string, unit: string): Progress {
  const began = Date.now()
  let shownAt = 0
  let shown = false
  return {
    update(done, total) {
      const now = Date.now()
      const pause = stream.isTTY ? 100 : 5_000
      if (done < total && now - shownAt < pause) return
      shownAt = now
      shown = true
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
      if (stream.isTTY && shown) stream.write('\n')
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
