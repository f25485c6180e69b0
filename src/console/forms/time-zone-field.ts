import { type Html, html } from '../../web/html.ts'

/** ICU leaves out UTC, which is the default of a site. */
const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

const options = html`<datalist id="zones">${zones.map((zone) => html`<option value="${zone}">`)}</datalist>`

interface TimeZoneField {
  value: string
  /** Nobody has chosen the value, so the script may replace it with the zone of the browser. */
  isDefault?: boolean
}

/** A field that finds a zone by any part of its name. */
export const timeZoneField = ({ value, isDefault }: TimeZoneField): Html => html`
<label>Time zone
  <input name="zone" list="zones" required maxlength="60" autocomplete="off" spellcheck="false" value="${value}"${isDefault && html` data-browser-zone`}>
</label>
${options}`
