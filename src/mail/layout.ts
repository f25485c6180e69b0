// The one look of every mail. Mail programs know little more than tables and inline styles, so there is nothing else: nothing is loaded and
// nothing is attached. The style in the head adds the dark theme and phones; a program that drops it shows the mail light, and readable.
import { type Html, type HtmlValue, html } from '../web/html.ts'
import { type Letter, subjectOf, visibleLine } from './letter.ts'

/** As on every page (web/base.css), in its light theme. */
export const colours = {
  ground: '#fbfbfa',
  card: '#ffffff',
  line: '#e6e8e5',
  axis: '#868f8a',
  text: '#17201d',
  soft: '#525f59',
  accent: '#0b7a55',
  before: '#82948b',
  worse: '#b3372f',
} as const

/** Without quotes, which an attribute would have to escape. No table inherits it in every mail program, so each names it, or its cells do. */
const family = 'system-ui,Segoe UI,Arial,sans-serif'

/** `font:14px/20px …`; the weight comes first. */
export const font = (sizePx: number, linePx: number, weight?: number): string =>
  `font:${weight === undefined ? '' : `${weight} `}${sizePx}px/${linePx}px ${family}`

/** Inline style and class of a text: the class gives it its colour in the dark theme. */
export const strong = `color:${colours.text}`
export const soft = `color:${colours.soft}`

/** Classes: `t` and `s` text and soft text, `l` a line above, `is`, `was` and `rest` bars, `a` links, `up` and `dn` changes, `b` the button. */
const styles = html`:root{color-scheme:light dark}
@media (max-width:560px){.half{width:100%!important;float:none!important}.in{padding-left:18px!important;padding-right:18px!important}.out{padding:0!important}.card{border-radius:0!important;border-left:0!important;border-right:0!important}}
@media (prefers-color-scheme:dark){.ground{background:#101413!important}.card{background:#171c1b!important;border-color:#262d2b!important}.t{color:#e8eeeb!important}.s{color:#a3b0aa!important}.l{border-color:#262d2b!important}.is{background:#46c98f!important}.was{background:#6d7a75!important}.rest{background:#262d2b!important}.axis{border-color:#66726d!important}.up,.a{color:#46c98f!important}.dn{color:#ff8a80!important}.b{background:#46c98f!important;color:#06231a!important}}`

/** A table that only places things: no screen reader announces it. */
export const placed = (attributes: Html, rows: HtmlValue): Html =>
  html`<table role="presentation" cellpadding="0" cellspacing="0" border="0"${attributes}>${rows}</table>`

export const fullWidth = html` width="100%"`
const ownWidth = html``

/** A part of the letter, below the one before it. */
export const part = (abovePx: number, content: HtmlValue, belowPx = 0): Html =>
  html`<tr><td class="in" style="padding:${abovePx}px 28px ${belowPx}px">${content}</td></tr>
`

export const title = (text: string): Html =>
  html`<h1 class="t" style="margin:0;${font(20, 26, 650)};letter-spacing:-.2px;word-break:break-word;${strong}">${text}</h1>`

export const softLine = (content: HtmlValue, sizePx = 14): Html =>
  html`<div class="s" style="${font(sizePx, Math.round(sizePx * 1.45))};${soft}">${content}</div>`

export const paragraph = (content: HtmlValue): Html =>
  html`<p class="t" style="margin:0 0 12px;${font(15, 23)};word-break:break-word;${strong}">${content}</p>`

export const link = (name: string, href: string): Html =>
  html`<a class="a" href="${href}" style="color:${colours.accent};text-decoration:underline">${name}</a>`

export const button = (name: string, href: string): Html =>
  placed(
    ownWidth,
    html`<tr><td class="b" bgcolor="${colours.accent}" style="background:${colours.accent};border-radius:8px"><a class="b" href="${href}" style="display:inline-block;${font(14, 20, 600)};color:#ffffff;text-decoration:none;padding:10px 18px;border-radius:8px">${name}</a></td></tr>`,
  )

/** A block of colour. The blank keeps its cell open in programs that close empty ones. */
export const block = (name: string, colour: string, style: string, attributes: Html): Html =>
  html`<td class="${name}" bgcolor="${colour}"${attributes} style="${style};font-size:0;line-height:0;background:${colour}">&nbsp;</td>`

/** The mark (web/look.ts) made of cells. */
const mark = placed(
  ownWidth,
  html`<tr>${[
    { heightPx: 9, opacity: 0.5, afterPx: 2 },
    { heightPx: 14, opacity: 0.75, afterPx: 2 },
    { heightPx: 20, opacity: 1, afterPx: 9 },
  ].map(
    ({ heightPx, opacity, afterPx }) =>
      html`<td valign="bottom" style="padding:0 ${afterPx}px 0 0">${placed(ownWidth, html`<tr>${block('is', colours.accent, `width:5px;height:${heightPx}px;border-radius:2px;opacity:${opacity}`, html` width="5" height="${heightPx}"`)}</tr>`)}</td>`,
  )}<td class="t" valign="bottom" style="${font(15, 20, 600)};${strong}">Footfall</td></tr>`,
)

interface Page {
  /** Mail programs show it beside the subject in their lists. */
  preview: string
  /** What kind of mail this is, at the top right. */
  kind?: string
  /** Made with `part`. */
  parts: readonly Html[]
  footer: HtmlValue
}

/** The HTML part of a letter. */
export const page = (subject: string, { preview, kind, parts, footer }: Page): string =>
  html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no"><title>${subject}</title><style>${styles}</style></head>
<body class="ground" style="margin:0;padding:0;background:${colours.ground}"><div role="main"><div style="display:none;max-height:0;overflow:hidden">${preview}</div>
<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:${colours.ground}"><tr><td class="out" align="center" style="padding:24px 12px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:640px;background:${colours.card};border:1px solid ${colours.line};border-radius:10px;text-align:left">
${part(22, placed(fullWidth, html`<tr><td>${mark}</td>${kind && html`<td class="s" align="right" valign="bottom" style="${font(13, 20)};${soft}">${kind}</td>`}</tr>`))}${parts}<tr><td class="in l" style="padding:18px 28px 22px;border-top:1px solid ${colours.line}"><div class="s" style="${font(12.5, 19)};${soft}">${footer}</div></td></tr>
</table></td></tr></table></div></body></html>
`.text

/** A mail of a few sentences, such as an invitation. Names in it may come from strangers. */
export interface ShortLetter {
  subject: string
  title: string
  paragraphs: readonly string[]
  /** The text part writes its address out. */
  button?: { name: string; href: string }
  /** Why the recipient gets it, and what to do if it is a mistake. */
  footer: string
}

export function shortLetter({ footer, button: action, ...letter }: ShortLetter): Letter {
  const subject = subjectOf(letter.subject)
  const heading = visibleLine(letter.title, maxSentence)
  const paragraphs = letter.paragraphs.map((one) => visibleLine(one, maxSentence))
  return {
    subject,
    text: `${[heading, ...paragraphs, action && `${action.name}:\n${action.href}`, `-- \n${footer}`].filter(Boolean).join('\n\n')}\n`,
    html: page(subject, {
      preview: paragraphs[0] ?? heading,
      parts: [
        part(20, title(heading), 12),
        part(0, paragraphs.map(paragraph), action ? 6 : 14),
        ...(action ? [part(2, button(action.name, action.href), 26)] : []),
      ],
      footer,
    }),
  }
}

const maxSentence = 2_000
