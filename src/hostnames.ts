// What a host name is. Each rule is as strict as what it is for.
import { domainToASCII } from 'node:url'

/** The limit of DNS. */
export const maxHostname = 253

/** Of a site: what people may enter, and what a hit may name. */
export const isSiteHost = (host: string): boolean =>
  host.length <= maxHostname && /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(host)

/** Of a page: browsers also open hosts with `_`, so events have them, and reports must find them. */
export const isPageHost = (host: string): boolean =>
  host.length <= maxHostname && /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host)

/** Of a referrer: whatever the host of a URL may be, also an address of IPv6. Nobody enters it, so it is only kept printable. */
export const isReferrerHost = (host: string): boolean => host.length <= maxHostname && /^[a-z0-9._:[\]-]+$/.test(host)

/** Of email addresses, in upper or lower case: whoever has one there may sign in, so a top-level domain such as `com` is refused. */
export const isEmailDomain = (domain: string): boolean => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(domain)

/** An international name in Punycode; empty if it is none. Other names stay as they are. */
export const asciiOf = (host: string): string => (/[\u0080-\u{10ffff}]/u.test(host) ? domainToASCII(host) : host)

/** Whether events of this host count for a site (decision D-157). */
export const isAllowedHost = (
  hostname: string,
  { hostnames, allowSubdomains }: { hostnames: readonly string[]; allowSubdomains: boolean },
): boolean =>
  hostnames.some(
    (own) => hostname === own || hostname === `www.${own}` || (allowSubdomains && hostname.endsWith(`.${own}`)),
  )
