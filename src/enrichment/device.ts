import type { Device } from '../traffic/device.ts'

// Android televisions say Android without Mobile, as tablets do.
const television = /\bTV\b|SmartTV|SMART-TV|GoogleTV|AppleTV|BRAVIA|\bAFT[A-Z]|CrKey|Roku|Web0S/
const tablet = /iPad|Tablet(?! PC)|Kindle|Silk\/|PlayBook/
const mobile = /Mobi|iPhone|iPod|Opera Mini|Windows Phone|BlackBerry/

/** `Sec-CH-UA-Mobile` takes precedence. It knows only two classes, so tablets are still found by user agent (decision D-113). */
export function deviceOf(userAgent: string, secChUaMobile?: string): Device {
  if (secChUaMobile === '?1') return 'Mobile'
  if (userAgent === '' || television.test(userAgent)) return 'Unknown'
  if (tablet.test(userAgent)) return 'Tablet'
  const isMobile = mobile.test(userAgent)
  if (userAgent.includes('Android') && !isMobile) return 'Tablet'
  if (isMobile && secChUaMobile !== '?0') return 'Mobile'
  return 'Desktop'
}
