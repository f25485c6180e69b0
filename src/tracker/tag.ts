import type { TrackerScript } from './script.ts'

/** The address whose content never changes, so that pages may name its hash. */
export const trackerPath = (version: number): string => `/js/footfall-${version}.js`

/** The address that follows upgrades (decision D-119). */
export const latestTrackerPath = '/js/footfall.js'

export interface TrackerTag {
  src: string
  /** Missing if the tag names the latest script, whose hash changes. */
  integrity?: string
  /** For the head of every page of the site. */
  tag: string
}

/** `base` is where browsers reach the collector, without a slash at its end. */
export function trackerTag(
  base: string,
  domain: string,
  { version, integrity }: Pick<TrackerScript, 'version' | 'integrity'>,
  latest = false,
): TrackerTag {
  const src = base + (latest ? latestTrackerPath : trackerPath(version))
  if (latest) return { src, tag: `<script defer src="${src}" data-site="${domain}"></script>` }
  const check = `integrity="${integrity}" crossorigin="anonymous"`
  return { src, integrity, tag: `<script defer src="${src}" data-site="${domain}" ${check}></script>` }
}
