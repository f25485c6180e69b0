// Paths and titles, made from words inside the engine: twenty thousand of them would not fit into a statement's parameters.
import { join, type Sql, sql, text, texts, uint } from '../stores/clickhouse-sql.ts'
import { stepwise } from './draws.ts'
import {
  customerNames,
  customerTrades,
  docAreas,
  docThings,
  docVerbs,
  hostEndings,
  hostFirsts,
  hostSeconds,
  mainPages,
  postEndings,
  postOpeners,
  postThings,
  productKinds,
  productThings,
} from './words.ts'

// After the main pages, each twenty hold eleven posts, five pages of documentation, three products and a customer, mixed by
// a factor without a divisor in common with twenty.
const round = 20
const mix = 7
const sections = { post: [0, 11], doc: [11, 16], product: [16, 19], customer: [19, 20] } as const

type Section = keyof typeof sections

/** A step that visits every one of so many combinations before it repeats one, and never two alike in a row: near the golden section. */
function strideOf(size: number): number {
  let stride = Math.round(size * 0.618)
  while (greatestCommonDivisor(stride, size) > 1) stride++
  return stride
}

const greatestCommonDivisor = (one: number, other: number): number =>
  other === 0 ? one : greatestCommonDivisor(other, one % other)

/** Ranks (counted from 1) of the best read posts. */
export const topPosts = (pages: number): number[] =>
  Array.from({ length: Math.min(60, pages - mainPages.length) }, (_, index) => index)
    .filter((index) => (index * mix) % round < sections.post[1])
    .map((index) => mainPages.length + 1 + index)

/** Which of its section's pages a page is, or something outside its numbers for the pages of other sections. */
function placeIn(section: Section): Sql {
  const [from, to] = sections[section]
  return sql`(intDiv(nth, ${uint(round)}) * ${uint(to - from)} + (nth * ${uint(mix)}) % ${uint(round)} - ${uint(from)})`
}

const isIn = (section: Section): Sql => sql`(nth * ${uint(mix)}) % ${uint(round)} < ${uint(sections[section][1])}`

const codeOf = (place: Sql, size: number): Sql => sql`((${place} * ${uint(strideOf(size))} + offset) % ${uint(size)})`

/** One word of each list, such that every place gets another combination; places far apart in the lists follow each other. */
function combination(place: Sql, lists: readonly (readonly string[])[], separator: Sql): Sql {
  const size = lists.reduce((product, { length }) => product * length, 1)
  const code = codeOf(place, size)
  let divisor = 1
  const words = lists.map((list) => {
    const word = sql`${texts(list)}[intDiv(${code}, ${uint(divisor)}) % ${uint(list.length)} + 1]`
    divisor *= list.length
    return word
  })
  return sql`concat(${join(words, separator)})`
}

const comma = sql`, `
const space = sql`, ' ', `

/** Posts use up the combinations of opener and thing before an ending tells two apart, yet one in three has one from the start. */
function postTitle(): Sql {
  const place = placeIn('post')
  const size = postOpeners.length * postThings.length
  const code = codeOf(place, size)
  const ending = sql`(intDiv(${place}, ${uint(size)}) + if(${code} % 3 = 0, ${code}, 0)) % ${uint(postEndings.length)}`
  return sql`concat(${combination(place, [postOpeners, postThings], space)}, ${texts(postEndings)}[${ending} + 1])`
}

/** The area is a folder of the path; each begins somewhere else among its titles. */
const docArea = sql`(${placeIn('doc')} % ${uint(docAreas.length)})`
const docTitle = combination(
  sql`(intDiv(${placeIn('doc')}, ${uint(docAreas.length)}) + ${docArea} * 37)`,
  [docVerbs, docThings],
  space,
)

export interface PageOptions {
  pages: number
  seed: number
  /** What every title ends with. */
  brand: string
  /** Days since the epoch between which titles change. */
  firstDay: number
  lastDay: number
}

/** A scalar of four arrays by rank: path, title, the title it has later, and the day (since the epoch) of the change. */
export function pageTable({ pages, seed, brand, firstDay, lastDay }: PageOptions): Sql {
  const main = (column: 0 | 1 | 2) => sql`${texts(mainPages.map((page) => page[column] ?? ''))}[rank]`
  const branded = (title: Sql) => sql`if(${title} = '', '', concat(${title}, ${text(` | ${brand}`)}))`
  const changeDay = sql`${uint(firstDay)} + cityHash64(${uint(seed)}, rank) % ${uint(lastDay - firstDay + 1)}`
  return sql`(
    SELECT (groupArray(path), groupArray(${branded(sql`title`)}), groupArray(${branded(sql`later`)}), groupArray(changed))
    FROM (
      SELECT *, if(later = '', 65535, ${changeDay}) AS changed
      FROM ${stepwise(
        sql`numbers(${uint(pages)})`,
        [
          sql`number + 1 AS rank`,
          sql`toInt64(number) - ${uint(mainPages.length)} AS nth`,
          sql`${uint(seed % 1_000)} AS offset`,
        ],
        [
          sql`multiIf(
            nth < 0, ${main(1)},
            ${isIn('post')}, ${postTitle()},
            ${isIn('doc')}, ${docTitle},
            ${isIn('product')}, ${combination(placeIn('product'), [productKinds, productThings], space)},
            ${combination(placeIn('customer'), [customerNames, customerTrades], space)}
          ) AS title`,
          sql`multiIf(
            nth < 0, '',
            ${isIn('post')}, '/blog/',
            ${isIn('doc')}, concat('/docs/', ${texts(docAreas)}[${docArea} + 1], '/'),
            ${isIn('product')}, '/shop/',
            '/customers/'
          ) AS folder`,
        ],
        [
          sql`if(nth < 0, ${main(0)}, concat(folder, replaceRegexpAll(lower(title), '[^a-z0-9]+', '-'))) AS path`,
          sql`multiIf(nth < 0, ${main(2)}, rank % 17 = 3, concat(title, ' (updated)'), '') AS later`,
        ],
      )}
      ORDER BY rank
    )
  )`
}

/** A scalar array of the small sites that refer, most frequent first. */
export const tailHostTable = (hosts: number, seed: number): Sql => sql`(
    SELECT groupArray(host)
    FROM (
      SELECT ${uint(seed % 1_000)} AS offset, ${combination(sql`number`, [hostFirsts, hostSeconds, hostEndings], comma)} AS host
      FROM numbers(${uint(hosts)})
      ORDER BY number
    )
  )`
