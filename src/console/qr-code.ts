// A QR code as SVG (ISO/IEC 18004): always version 6 with error correction L, which holds 134 bytes, and always mask 0. That is all that
// the link of an authenticator app needs, and a tenth of a general encoder.
import { type Html, html } from '../web/html.ts'

const size = 41
const dataPerBlock = 68
const correctionPerBlock = 18
const mostBytes = 134
/** Level L and mask 0, with their error correction, as the standard lists them. */
const formatBits = 0b111011111000100

/** Undefined if the text is too long. */
export function qrCode(text: string): Html | undefined {
  const bytes = Buffer.from(text)
  if (bytes.length > mostBytes) return undefined
  const dark = modules(codewords(bytes))
  let path = ''
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) if (dark[row]?.[column]) path += `M${column} ${row}h1v1h-1z`
  }
  // Dark on light in both themes: not every app reads the reverse. Four modules of margin belong to the code.
  return html`<svg class="qr" viewBox="-4 -4 ${size + 8} ${size + 8}" role="img" aria-label="QR code for the authenticator app" shape-rendering="crispEdges"><rect x="-4" y="-4" width="${size + 8}" height="${size + 8}" fill="#fff"/><path d="${path}" fill="#000"/></svg>`
}

/** Two blocks, each with its error correction, interleaved. */
function codewords(bytes: Buffer): number[] {
  const data = Buffer.alloc(2 * dataPerBlock)
  // Byte mode (4 bits), the length (8 bits), the bytes, an end of 4 bits: everything is shifted by half a byte.
  const stream = [
    4,
    bytes.length >> 4,
    bytes.length & 15,
    ...Array.from(bytes, (byte) => [byte >> 4, byte & 15]).flat(),
    0,
  ]
  stream.forEach((half, index) => {
    data[index >> 1] = (data[index >> 1] as number) | (index % 2 === 0 ? half << 4 : half)
  })
  for (let index = bytes.length + 2, pad = 0xec; index < data.length; index++, pad ^= 0xfd) data[index] = pad
  const blocks = [data.subarray(0, dataPerBlock), data.subarray(dataPerBlock)]
  const corrections = blocks.map(correctionOf)
  const interleaved = (parts: readonly ArrayLike<number>[], length: number) =>
    Array.from({ length }, (_, index) => parts.map((part) => part[index] as number)).flat()
  return [...interleaved(blocks, dataPerBlock), ...interleaved(corrections, correctionPerBlock)]
}

const [powers, logarithms] = galoisTables()

/** GF(256) with the polynomial of the standard, 0x11d. */
function galoisTables(): [number[], number[]] {
  const [power, logarithm] = [[] as number[], [] as number[]]
  for (let exponent = 0, value = 1; exponent < 255; exponent++) {
    power[exponent] = value
    logarithm[value] = exponent
    value = value < 128 ? value << 1 : (value << 1) ^ 0x11d
  }
  return [power, logarithm]
}

const product = (one: number, other: number): number =>
  one === 0 || other === 0 ? 0 : (powers[((logarithms[one] as number) + (logarithms[other] as number)) % 255] as number)

/** The remainder of a division by the generator polynomial (Reed-Solomon). */
function correctionOf(data: Uint8Array): number[] {
  let generator = [1]
  for (let root = 0; root < correctionPerBlock; root++) {
    const factor = powers[root] as number
    generator = [...generator, 0].map((value, index) => value ^ product(generator[index - 1] ?? 0, factor))
  }
  const remainder: number[] = new Array(correctionPerBlock).fill(0)
  for (const byte of data) {
    const lead = byte ^ (remainder.shift() as number)
    remainder.push(0)
    for (let index = 0; index < correctionPerBlock; index++) {
      remainder[index] = (remainder[index] as number) ^ product(generator[index + 1] as number, lead)
    }
  }
  return remainder
}

function modules(words: readonly number[]): boolean[][] {
  const grid: (boolean | undefined)[][] = Array.from({ length: size }, () => new Array(size).fill(undefined))
  const set = (row: number, column: number, isDark: boolean) => {
    const line = grid[row]
    if (line && column >= 0 && column < size) line[column] = isDark
  }
  // Three finder patterns with their light borders, and one alignment pattern.
  const square = (row: number, column: number, reach: number, isDark: (ring: number) => boolean) => {
    for (let y = -reach; y <= reach; y++) {
      for (let x = -reach; x <= reach; x++) set(row + y, column + x, isDark(Math.max(Math.abs(x), Math.abs(y))))
    }
  }
  for (const [row, column] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const)
    square(row, column, 4, (ring) => ring !== 2 && ring !== 4)
  square(34, 34, 2, (ring) => ring !== 1)
  for (let index = 8; index < size - 8; index++) {
    set(6, index, index % 2 === 0)
    set(index, 6, index % 2 === 0)
  }
  for (let bit = 0; bit < 15; bit++) {
    const isDark = ((formatBits >> bit) & 1) === 1
    const near = bit < 6 ? bit : bit < 8 ? bit + 1 : undefined
    if (near !== undefined) set(near, 8, isDark)
    else set(8, bit === 8 ? 7 : 14 - bit, isDark)
    if (bit < 8) set(8, size - 1 - bit, isDark)
    else set(size - 15 + bit, 8, isDark)
  }
  set(size - 8, 8, true)
  // Upwards and downwards in columns of two, from the right; the timing column is left out.
  let bit = 0
  for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2) {
    const isUpward = ((right > 6 ? size - 1 - right : size - 2 - right) >> 1) % 2 === 0
    for (let step = 0; step < size; step++) {
      const row = isUpward ? size - 1 - step : step
      for (const column of [right, right - 1]) {
        if (grid[row]?.[column] !== undefined) continue
        const isSet = (((words[bit >> 3] ?? 0) >> (7 - (bit % 8))) & 1) === 1
        set(row, column, isSet !== ((row + column) % 2 === 0))
        bit++
      }
    }
  }
  return grid as boolean[][]
}
