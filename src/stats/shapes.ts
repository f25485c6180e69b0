import Type from 'typebox'

/** The reference shows `unit`, for example `visitors`. */
export const count = (description: string, unit: string) => Type.Integer({ minimum: 0, description, ...unitOf(unit) })

/** OpenAPI has no keyword for units, and names of extensions begin with `x-`. */
export const unitOf = (unit: string) => ({ 'x-unit': unit })

/** Every schema with visitors has this sentence (decision D-2). */
export const visitors = count(
  'Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days.',
  'people',
)

export const views = count('Pageviews.', 'pageviews')

export const siteId = Type.String({ description: 'Identifier of the site.' })

export const domain = Type.String({ description: 'Domain of the site.' })
