/** No inline code, and nothing from another origin. `frames`: who may put a frame around the page. */
export const contentPolicy = (frames: "'none'" | '*'): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors ${frames}`
