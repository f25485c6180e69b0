// Sends the example request of a route over HTTP, as any person, with the form that belongs to it.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { formTokenOf } from '../../src/console/forms/forms.ts'
import type { Route } from '../../src/console/route.ts'
import { addressOf, exampleOf } from './route-examples.ts'
import type { OwnThings, Person } from './things.ts'

export interface Answer {
  status: number
  location: string | undefined
  text: string
}

export interface Sent {
  /** The session of this person. Otherwise somebody who is not signed in but has opened a page. */
  person?: Person | undefined
  headers?: Record<string, string | undefined>
  token?: string | undefined
  /** Instead of the address and the fields of the example. */
  address?: string
  fields?: Record<string, string>
}

const formCookie = 'a-form-cookie-of-somebody-who-is-not-signed-in'

/** Sends the example of a route with these things. */
export function sendExample(url: string, route: Route, things: OwnThings, sent: Sent = {}): Promise<Answer> {
  const { person, headers = {}, token, address = addressOf(route, things) } = sent
  const cookie = person ? `footfall-session=${person.cookie}` : `footfall-form=${formCookie}`
  const fields = sent.fields ?? exampleOf(route).fields?.(things) ?? {}
  const { form: ofForm, isForOtherSites = false, file } = exampleOf(route)
  const own = token ?? formTokenOf(ofForm?.(things).secret ?? person?.cookie ?? formCookie)
  const form = {
    Origin: url,
    'Sec-Fetch-Site': 'same-origin',
    'Content-Type': file ? `multipart/form-data; boundary=${boundary}` : 'application/x-www-form-urlencoded',
    ...headers,
  }
  return exchange(url + address, {
    method: route.method,
    headers: { Cookie: cookie, ...(route.method === 'POST' ? form : headers) },
    body: route.method === 'POST' ? bodyOf({ ...(own && { token: own }), ...fields }, file) : '',
    isForOtherSites,
  })
}

const boundary = 'between-two-parts'

function bodyOf(fields: Record<string, string>, file: { name: string; content: string } | undefined): string {
  if (!file) return new URLSearchParams(fields).toString()
  const part = (head: string, content: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`
  const parts = Object.entries(fields).map(([name, value]) => part(`name="${name}"`, value))
  return `${parts.join('')}${part(`name="files"; filename="${file.name}"`, file.content)}--${boundary}--\r\n`
}

/** Every response has the headers that protect pages. */
export function exchange(
  address: string,
  {
    method,
    headers,
    body,
    isForOtherSites = false,
  }: { method: string; headers: Record<string, string | undefined>; body: string; isForOtherSites?: boolean },
): Promise<Answer> {
  const known = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
  return new Promise((resolve, reject) => {
    const sent = request(address, { method, headers: known as Record<string, string> }, async (response) => {
      let text = ''
      const isStream = response.headers['content-type']?.startsWith('text/event-stream')
      for await (const chunk of response.setEncoding('utf8')) {
        text += chunk
        // A stream does not end. Its first message says what it sends.
        if (isStream && /^data: /m.test(text)) break
      }
      const { statusCode: status = 0, headers } = response
      const policy = String(headers['content-security-policy'])
      try {
        assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
        assert.match(policy, /frame-ancestors 'none'/)
        assert.doesNotMatch(policy, /unsafe|https?:|\*/)
        assert.equal(headers['x-content-type-options'], 'nosniff')
        assert.match(String(headers['referrer-policy']), /^(same-origin|no-referrer)$/)
        const isOpen = isForOtherSites && status === 200
        const kept = isOpen ? 'public, max-age=60' : isStream ? 'no-store, no-transform' : 'no-store'
        assert.equal(headers['cache-control'], kept)
        // PUBLIC_URL is http here. A browser that insists on https could not open it any more.
        assert.equal(headers['strict-transport-security'], undefined)
        assert.deepEqual(
          Object.entries(headers).filter(([name]) => name.startsWith('access-control-')),
          isOpen ? [['access-control-allow-origin', '*']] : [],
        )
        resolve({ status, location: headers.location, text })
      } catch (error) {
        reject(error)
      }
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
