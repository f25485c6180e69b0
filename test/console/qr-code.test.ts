import assert from 'node:assert/strict'
import { test } from 'node:test'
import { qrCode } from '../../src/console/qr-code.ts'

const size = 41

/** The dark modules of the picture. */
function gridOf(svg: string): boolean[][] {
  const grid = Array.from({ length: size }, () => new Array<boolean>(size).fill(false))
  for (const [, column, row] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    (grid[Number(row)] as boolean[])[Number(column)] = true
  return grid
}

/** Whether a module of version 6 belongs to a pattern and holds no data. */
function isPattern(row: number, column: number): boolean {
  const isNear = (value: number) => value <= 8
  const isFar = (value: number) => value >= size - 8
  if ((isNear(row) && (isNear(column) || isFar(column))) || (isFar(row) && isNear(column))) return true
  if (row === 6 || column === 6) return true
  return row >= 32 && row <= 36 && column >= 32 && column <= 36
}

/** Reads the bits as a scanner does: in columns of two, from the right, alternately up and down, with mask 0 taken off. */
function wordsOf(grid: boolean[][]): number[] {
  const columns = Array.from({ length: size }, (_, index) => size - 1 - index).filter((column) => column !== 6)
  const bits: number[] = []
  for (let pair = 0; pair < columns.length; pair += 2) {
    const rows = Array.from({ length: size }, (_, index) => ((pair / 2) % 2 === 0 ? size - 1 - index : index))
    for (const row of rows) {
      for (const column of columns.slice(pair, pair + 2)) {
        if (isPattern(row, column)) continue
        bits.push(Number(grid[row]?.[column] !== ((row + column) % 2 === 0)))
      }
    }
  }
  return Array.from({ length: 172 }, (_, index) => Number.parseInt(bits.slice(8 * index, 8 * index + 8).join(''), 2))
}

/** By shifting and adding, without tables. */
function times(one: number, other: number): number {
  let [product, factor] = [0, one]
  for (let rest = other; rest > 0; rest >>= 1) {
    if (rest & 1) product ^= factor
    factor = factor & 128 ? (factor << 1) ^ 0x11d : factor << 1
  }
  return product
}

/** A block with its error correction is 0 at every root of the generator. */
function hasNoErrors(block: readonly number[]): boolean {
  let root = 1
  for (let index = 0; index < 18; index++, root = times(root, 2)) {
    if (block.reduce((sum, word) => times(sum, root) ^ word, 0) !== 0) return false
  }
  return true
}

function read(svg: string): string {
  const words = wordsOf(gridOf(svg))
  const blocks = [0, 1].map((block) => words.filter((_, index) => index % 2 === block))
  assert.ok(blocks.every(hasNoErrors))
  const bits = blocks
    .flatMap((block) => block.slice(0, 68))
    .map((word) => word.toString(2).padStart(8, '0'))
    .join('')
  assert.equal(bits.slice(0, 4), '0100')
  const length = Number.parseInt(bits.slice(4, 12), 2)
  const bytes = Array.from({ length }, (_, index) => Number.parseInt(bits.slice(12 + 8 * index, 20 + 8 * index), 2))
  return Buffer.from(bytes).toString()
}

test('the picture holds the text', () => {
  for (const text of [
    'otpauth://totp/Footfall:maria.keller%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Footfall',
    'x',
    'ü',
    '\0'.repeat(134),
    'z'.repeat(133),
  ]) {
    assert.equal(read(qrCode(text)?.text ?? ''), text)
  }
})

test('a text that does not fit has no picture', () => {
  assert.ok(qrCode('x'.repeat(134)))
  assert.equal(qrCode('x'.repeat(135)), undefined)
})

test('the patterns are where scanners look for them', () => {
  const grid = gridOf(qrCode('x')?.text ?? '')
  const finder = ['1111111', '1000001', '1011101', '1011101', '1011101', '1000001', '1111111']
  for (const [row, column] of [
    [0, 0],
    [0, size - 7],
    [size - 7, 0],
  ] as const) {
    const found = grid.slice(row, row + 7).map((line) =>
      line
        .slice(column, column + 7)
        .map(Number)
        .join(''),
    )
    assert.deepEqual(found, finder)
  }
  assert.deepEqual((grid[6] as boolean[]).slice(8, 33).map(Number).join(''), '1010101010101010101010101')
  // Level L and mask 0, once around the corner and once split (ISO/IEC 18004, table C.1: 111011111000100).
  const corner = [0, 1, 2, 3, 4, 5, 7, 8].map((column) => Number(grid[8]?.[column])).join('')
  assert.equal(corner, '11101111')
})
