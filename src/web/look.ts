// Shared by the pages of the console and of the reference: the base style sheet, the icon and the mark.
import { readFileSync } from 'node:fs'
import { html } from './html.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

export const baseStyles = read('base.css')
export const icon = read('icon.svg')

export const mark = html`<svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true"><rect class="bar-1" x="1" y="12" width="5" height="9" rx="2"/><rect class="bar-2" x="8.5" y="7" width="5" height="14" rx="2"/><rect class="bar-3" x="16" y="1" width="5" height="20" rx="2"/></svg>`
