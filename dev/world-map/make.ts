// Makes src/console/assets/world.json from Natural Earth's outlines, which are in the public domain:
//   npm pack world-atlas@2.0.2 world-countries@5.1.0   (in any folder, then unpack both)
//   node dev/world-map/make.ts <countries-110m.json of world-atlas> <countries.json of world-countries>
// A country is one path of whole numbers in a picture of 1000 × 431; outlines without any point of their own are left out.
import { readFileSync, writeFileSync } from 'node:fs'

type Point = readonly [x: number, y: number]

interface Topology {
  transform: { scale: Point; translate: Point }
  arcs: readonly (readonly Point[])[]
  objects: { countries: { geometries: readonly Geometry[] } }
}

type Geometry = { id?: string; properties: { name: string } } & (
  | { type: 'Polygon'; arcs: readonly (readonly number[])[] }
  | { type: 'MultiPolygon'; arcs: readonly (readonly (readonly number[])[])[] }
)

const [topologyPath, codesPath] = process.argv.slice(2)
if (!topologyPath || !codesPath) throw new Error('Name the two files, see above')
const topology = JSON.parse(readFileSync(topologyPath, 'utf8')) as Topology
const codes = JSON.parse(readFileSync(codesPath, 'utf8')) as { ccn3: string; cca2: string }[]
const codeOf = new Map(codes.map(({ ccn3, cca2 }) => [ccn3, cca2]))
/** Natural Earth gives these no number. Northern Cyprus and Somaliland are drawn with the country whose code their addresses have. */
const codeByName: Record<string, string> = { Kosovo: 'XK', 'N. Cyprus': 'CY', Somaliland: 'SO' }

const width = 1000
const [north, south] = [83.7, -56]

/** The Natural Earth projection (Patterson, Šavrič and Jenny). */
function projected([longitude, latitude]: Point): Point {
  const [l, p] = [(longitude * Math.PI) / 180, (latitude * Math.PI) / 180]
  const [p2, p4] = [p * p, p ** 4]
  return [
    l * (0.8707 - 0.131979 * p2 + p4 * (-0.013791 + p4 * (0.003971 * p2 - 0.001529 * p4))),
    p * (1.007226 + p2 * (0.015085 + p4 * (-0.044475 + 0.028874 * p2 - 0.005916 * p4))),
  ]
}
/** Turned so that the edge of the picture goes through the Bering Strait and cuts no country. */
const middle = 11
const scale = width / (2 * projected([180, 0])[0])
const top = projected([0, north])[1]
const onPicture = (point: Point): Point => {
  const [x, y] = projected([point[0] - middle, point[1]])
  return [Math.round(width / 2 + x * scale), Math.round((top - y) * scale)]
}

/** Arcs are stored as differences of whole numbers. */
const arcs = topology.arcs.map((arc) => {
  let [x, y] = [0, 0]
  return arc.map(([dx, dy]): Point => {
    x += dx
    y += dy
    return [
      x * topology.transform.scale[0] + topology.transform.translate[0],
      Math.max(y * topology.transform.scale[1] + topology.transform.translate[1], south),
    ]
  })
})

/** Outlines go on across the 180th meridian. Each point gets the longitude next to the one before it, and all lie around the middle. */
function pointsOf(ring: readonly number[]): Point[] {
  const points = ring.flatMap((number) =>
    number < 0 ? (arcs[~number] as Point[]).toReversed() : (arcs[number] as Point[]),
  )
  let before = points[0]?.[0] ?? 0
  const joined = points.map(([longitude, latitude]): Point => {
    before = longitude + 360 * Math.round((before - longitude) / 360)
    return [before, latitude]
  })
  const mean = joined.reduce((sum, [longitude]) => sum + longitude, 0) / joined.length
  const turn = 360 * Math.round((mean - middle) / 360)
  return joined.map(([longitude, latitude]) => [longitude - turn, latitude])
}

/** Relative, so that most numbers have one digit. Points on the one before or on a straight line are left out. */
function pathOf(ring: readonly number[]): string {
  const points = pointsOf(ring)
    .map(onPicture)
    .filter((point, index, all) => index === 0 || String(point) !== String(all[index - 1]))
    .filter((point, index, all) => !isBetween(all[index - 1], point, all[index + 1]))
  if (new Set(points.map(String)).size < 3) return ''
  const [first, ...rest] = points as [Point, ...Point[]]
  let at = first
  let text = `M${first[0]} ${first[1]}l`
  for (const point of rest.slice(0, -1)) {
    text += pair(point[0] - at[0], point[1] - at[1], text.endsWith('l'))
    at = point
  }
  return `${text}z`
}

/** Whether a point lies on the straight way from the one before to the one after it. */
function isBetween(before: Point | undefined, point: Point, after: Point | undefined): boolean {
  if (!before || !after) return false
  const [x, y] = [point[0] - before[0], point[1] - before[1]]
  const [dx, dy] = [after[0] - point[0], after[1] - point[1]]
  return x * dy === y * dx && x * dx + y * dy > 0
}

const pair = (x: number, y: number, isFirst: boolean): string =>
  `${isFirst || x < 0 ? '' : ' '}${x}${y < 0 ? '' : ' '}${y}`

const paths: Record<string, string> = {}
for (const geometry of topology.objects.countries.geometries) {
  const code = codeByName[geometry.properties.name] ?? codeOf.get(geometry.id ?? '')
  if (!code) throw new Error(`${geometry.properties.name} has no code`)
  if (code === 'AQ') continue
  const polygons = geometry.type === 'Polygon' ? [geometry.arcs] : geometry.arcs
  const path = polygons.flat().map(pathOf).join('')
  if (path) paths[code] = (paths[code] ?? '') + path
}
const height = onPicture([0, south])[1]
const sorted = Object.fromEntries(Object.entries(paths).toSorted(([one], [other]) => (one < other ? -1 : 1)))
writeFileSync(
  new URL('../../src/console/assets/world.json', import.meta.url),
  `${JSON.stringify({ width, height, countries: sorted }, null, 2)}\n`,
)
