import type { Device } from '../traffic/device.ts'

// A television with Android says Android without Mobile, as tablets do.
const television = /\bTV\b|SmartTV|SMART-TV|GoogleTV|AppleTV|BRAVIA|\bAFT[A-Z]|CrKey|Roku|Web0S/
const tablet = /iPad|Tablet(?! PC)|Kindle|Silk\/|PlayBook/
const mobile = /Mobi|iPhone|iPod|Opera Mini|Windows Phone|BlackBerry/

/** What `Sec-CH-UA-Mobile` says comes first; it knows two classes only, so a tablet is still looked for (decision D-113). */
export function deviceOf(userAgent: string, secChUaMobile?: string): Device {
  if (secChUaMobile === '?1') return 'Mobile'
  if (userAgent === '' || television.test(userAgent)) return 'Unknown'
  if (tablet.test(userAgent)) return 'Tablet'
  const isMobile = mobile.test(userAgent)
  if (userAgent.includes('Android') && !isMobile) return 'Tablet'
  if (isMobile && secChUaMobile !== '?0') return 'Mobile'
  return 'Desktop'
}
