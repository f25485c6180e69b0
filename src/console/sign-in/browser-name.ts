/** In this order: Edge and Opera also say Chrome, and Chrome also says Safari. */
const browsers = [
  [/\bEdg/, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\bChrom(e|ium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const

const systems = [
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bLinux\b/, 'Linux'],
] as const

/** `Firefox on Linux`: enough to recognise one's own session in a list. */
export function browserName(userAgent: string): string {
  const [, browser = 'Another browser'] = browsers.find(([shape]) => shape.test(userAgent)) ?? []
  const [, system] = systems.find(([shape]) => shape.test(userAgent)) ?? []
  return system ? `${browser} on ${system}` : browser
}
