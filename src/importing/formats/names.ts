// What other products call browsers, systems and devices, in the words that Footfall's own traffic has (decision D-218). A name that is not
// here stays as it is written, without its version.

const browsers: Readonly<Record<string, string>> = {
  'android webview': 'Chrome',
  'chrome mobile': 'Chrome',
  'chrome mobile ios': 'Chrome',
  'chrome webview': 'Chrome',
  chrome: 'Chrome',
  'chromium-webview': 'Chrome',
  crios: 'Chrome',
  edge: 'Microsoft Edge',
  'edge-chromium': 'Microsoft Edge',
  'edge-ios': 'Microsoft Edge',
  'firefox mobile': 'Firefox',
  'firefox mobile ios': 'Firefox',
  firefox: 'Firefox',
  fxios: 'Firefox',
  ie: 'Internet Explorer',
  ios: 'Safari',
  'ios-webview': 'Safari',
  'microsoft edge': 'Microsoft Edge',
  'mobile safari': 'Safari',
  'opera-mini': 'Opera',
  'opera mini': 'Opera',
  'opera mobile': 'Opera',
  opera: 'Opera',
  safari: 'Safari',
  samsung: 'Samsung Internet for Android',
  'samsung browser': 'Samsung Internet for Android',
  'samsung internet': 'Samsung Internet for Android',
  yandexbrowser: 'Yandex Browser',
}

const systems: Readonly<Record<string, string>> = {
  'android os': 'Android',
  'chrome os': 'Chrome OS',
  chromeos: 'Chrome OS',
  'gnu/linux': 'Linux',
  'harmony os': 'HarmonyOS',
  ios: 'iOS',
  ipados: 'iOS',
  mac: 'macOS',
  'mac os': 'macOS',
  'mac os x': 'macOS',
  macos: 'macOS',
  ubuntu: 'Linux',
}

const devices: Readonly<Record<string, string>> = {
  desktop: 'Desktop',
  laptop: 'Desktop',
  mobile: 'Mobile',
  smartphone: 'Mobile',
  'feature phone': 'Mobile',
  phablet: 'Mobile',
  tablet: 'Tablet',
}

export const browserCalled = (name: string): string => calledIn(browsers, name)

/** `Windows 10` and `Windows Server 2003` are Windows, as is what an old version is called. */
export const systemCalled = (name: string): string =>
  /^windows(?! (phone|mobile))/i.test(name) ? 'Windows' : calledIn(systems, name)

export const deviceCalled = (name: string): string => devices[name.toLowerCase()] ?? 'Unknown'

function calledIn(names: Readonly<Record<string, string>>, written: string): string {
  const name = written.replace(/ [\d.]+$/, '').trim()
  return names[name.toLowerCase()] ?? name
}

/** The country if it is one; a region such as US-TX begins with it. */
export const countryCalled = (code: string): string =>
  /^[a-z]{2}(-|$)/i.test(code) ? code.slice(0, 2).toUpperCase() : ''

/** Leaves out fields that are empty. */
export function fieldsOf(fields: Readonly<Record<string, string | undefined>>): Map<string, string> {
  const kept = new Map<string, string>()
  for (const name in fields) if (fields[name]) kept.set(name, fields[name])
  return kept
}
