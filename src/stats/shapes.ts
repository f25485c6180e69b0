import Type from 'typebox'

export const count = (description: string) => Type.Integer({ minimum: 0, description })

/** The sentence every schema with visitors carries (decision D-2). */
export const visitors = count(
  'Visitors. A visitor is counted once per day: a range has the sum of the visitors of its days.',
)

export const views = count('Pageviews.')
