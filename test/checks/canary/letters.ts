// Every part of a request where a client might put a key: where it belongs, where it does not, and where the request is refused before
// any of our code sees it.

const host = 'Host: api.example\r\nConnection: close\r\n'
const reports = ['overview', 'timeseries', 'pages', 'referrers', 'channels', 'devices', 'geo', 'events', 'utm']
const questions = ['totals?range=7d', 'timeseries?interval=hour&range=7d', 'breakdown?by=referrer']
const parameters = ['range', 'start', 'end', 'limit', 'country', 'device', 'hostname', 'utm_source', 'site_id']
const strangers = ['api_key', 'key', 'token', 'access_token', 'Authorization', 'browser']

/**
 * Requests that carry the secret. `good` is a valid key. `fresh` is a text that no query had before: while ClickHouse is down,
 * a repeated query is answered from the response cache.
 */
export function lettersWith(secret: string, good: string, fresh: string): string[] {
  const get = (target: string, headers = '') => `GET ${target} HTTP/1.1\r\n${host}${headers}\r\n`
  const overview = '/api/v1/stats/overview'
  const bearer = (key: string) => `Authorization: Bearer ${key}\r\n`
  const [user, basic] = [encodeURIComponent(secret), Buffer.from(`${secret}:`).toString('base64')]
  return [
    // In the right header.
    ...reports.map((report) => get(`/api/v1/stats/${report}?utm_source=${fresh}`, bearer(secret))),
    ...questions.map((question) => get(`/api/v2/stats/${question}&filter=page:is:/${fresh}`, bearer(secret))),
    get(overview, `${bearer(secret)}If-None-Match: *\r\n`),
    `HEAD ${overview} HTTP/1.1\r\n${host}${bearer(secret)}\r\n`,
    `OPTIONS ${overview} HTTP/1.1\r\n${host}${bearer(secret)}\r\n`,
    `POST ${overview} HTTP/1.1\r\n${host}${bearer(secret)}Content-Length: ${secret.length}\r\n\r\n${secret}`,
    get('/nothing', bearer(secret)),
    // Almost in the right form.
    ...['bearer  ', 'BEARER ', 'Token ', 'Basic ', 'Bearer', 'Digest username=', ''].map((scheme) =>
      get(overview, `Authorization: ${scheme}${secret}\r\n`),
    ),
    get(overview, `Authorization: Basic ${basic}\r\n`),
    get(overview, `Authorization: Bearer ${secret} ${secret}\r\n`),
    get(overview, `Authorization: Bearer ${secret},\r\n`),
    get(overview, `${bearer(secret)}${bearer(secret)}`),
    get(overview, `${bearer(good)}${bearer(secret)}`),
    // In the URL.
    ...strangers.map((name) => get(`${overview}?${name}=${user}`, bearer(good))),
    ...strangers.map((name) => get(`${overview}?${name}=${user}`)),
    ...parameters.map((name) => get(`${overview}?${name}=${user}`, bearer(good))),
    ...parameters.map((name) => get(`${overview}?${name}=${user}&${name}=${user}`, bearer(good))),
    get(`${overview}?range=custom&start=${user}&end=${user}`, bearer(good)),
    get(`/api/v1/stats/${user}`, bearer(good)),
    get(`/%zz?api_key=${user}`),
    get(`${overview}%zz?api_key=${user}`, bearer(good)),
    get(`/${user}%zz`),
    get(`http://${user}@api.example${overview}`, bearer(good)),
    // In other headers.
    ...[
      'X-Api-Key',
      'Cookie',
      'Proxy-Authorization',
      'Referer',
      'User-Agent',
      'X-Request-Id',
      'Origin',
      'If-None-Match',
    ].map((name) => get(overview, `${bearer(good)}${name}: key=${secret}\r\n`)),
    get(overview, `Expect: ${secret}\r\n${bearer(good)}`),
    // Refused by the HTTP parser.
    get(overview, `${bearer(secret)}X-Bad: \x00\r\n`),
    get(overview, `Authorization: Bearer ${secret}\x01\r\n`),
    get(overview, `Authorization : Bearer ${secret}\r\n`),
    get(overview, `${bearer(secret)}X-Large: ${'a'.repeat(9000)}\r\n`),
    get(overview, `${bearer(secret)}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n`),
    `${secret} / HTTP/1.1\r\n${host}\r\n`,
    `GET /?api_key=${user} HTTP/9.9\r\n${host}\r\n`,
    `GET /a\x00?api_key=${user} HTTP/1.1\r\n${host}\r\n`,
    `CONNECT ${user}:443 HTTP/1.1\r\n${host}\r\n`,
  ]
}

/**
 * Questions with the secret wherever a question takes a text. Their answers are not searched: `meta` repeats the filters to whoever sent
 * them, and a refusal quotes what it refuses.
 */
export function questionsWith(secret: string, good: string, fresh: string): string[] {
  const key = `Authorization: Bearer ${good}\r\n`
  const text = encodeURIComponent(secret)
  const filters = ['page', 'event', 'referrer', 'browser', 'prop:plan'].map(
    (name) => `filter=${name}:contains:${text},${fresh}`,
  )
  const parameters = ['by', 'metrics', 'goal', 'order', 'cursor', 'compare']
  const ends = [
    `by=page&${filters.join('&')}`,
    `by=prop:${text.slice(0, 60)}&filter=page:is:/${text},${fresh}`,
    ...parameters.map((name) => `${name}=${text}&by=page&range=7d`),
    ...[`by=page&filter=prop:${text}:is:x`, `by=goal&filter=goal:is:${text}`, `by=page&browser=${text}`],
  ]
  return [
    ...ends.map((end) => `GET /api/v2/stats/breakdown?${end} HTTP/1.1\r\n${host}${key}\r\n`),
    `GET /api/v2/goals?name=${text} HTTP/1.1\r\n${host}${key}\r\n`,
    `GET /api/v2/live?site_id=${text} HTTP/1.1\r\n${host}${key}\r\n`,
  ]
}
